public import EideticCore
public import EideticHTTP

extension TransferRequest: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.kind),
        Field(\.url, .text(limit: TransferLimits.urlLength)),
        Field(\.method, .text(limit: 32)),
        Field(\.headers),
        Field(\.note, .bytes(limit: TransferLimits.noteLength)),
        Field(\.expectedLength, .optional(.number())),
        Field(\.priority),
        Field(\.resumeData, .optional(.bytes(limit: TransferLimits.resumeDataLength))),
        Field(\.earliestBegin),
        // The file of an upload comes as a descriptor.
        Field(\.filePath, .constant(nil))
    )
}

extension TransferSessionConfiguration: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.identifier, .name),
        Field(\.sendsLaunchEvents),
        Field(\.isDiscretionary),
        Field(\.requestTimeout),
        Field(\.resourceTimeout),
        Field(\.usesCookies),
        Field(\.retriesUnavailable),
        Field(\.allowsPrivateRedirects),
        Field(\.connectionsPerHost, .number())
    )
}

extension HTTPHeaders: WireRecord {
    @usableFromInline
    package static let layout = Layout<[Field]>.list(.value, limit: TransferLimits.fieldCount)
        .map(to: HTTPHeaders.init, from: \.fields)
}

extension HTTPHeaders.Field: WireRecord {
    @usableFromInline
    package static let layout = Layout(Self.init, \.name, \.value)
}

extension Layout<String> {
    /// The name of an application or a session.
    static var name: Self { text(limit: TransferSupervision.nameLimit) }
}
