public import EideticCore
public import EideticHTTP

extension TransferRequest: WireRecord {
    package static let layout = Layout(Self.init, Field(\.self, formerLayout), Field(\.redirects))

    /// The layout of journals of earlier builds, whose transfers follow all redirects.
    package static let formerLayout = Layout(
        Self.init(kind:url:method:headers:note:expectedLength:priority:resumeData:earliestBegin:filePath:),
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

    private init(
        kind: Kind,
        url: String,
        method: String,
        headers: HTTPHeaders,
        note: [UInt8],
        expectedLength: Int?,
        priority: Int8,
        resumeData: [UInt8]?,
        earliestBegin: Timestamp?,
        filePath: String?
    ) {
        self.init(kind: kind, url: url, method: method, headers: headers, note: note, filePath: filePath)
        self.expectedLength = expectedLength
        self.priority = priority
        self.resumeData = resumeData
        self.earliestBegin = earliestBegin
    }
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
