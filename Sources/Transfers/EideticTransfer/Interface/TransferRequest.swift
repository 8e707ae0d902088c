public import EideticCore
public import EideticHTTP

/// The number of a transfer, which no other transfer of the store has, before or after.
package struct TransferIdentifier: Hashable, Comparable, WireRecord, CustomStringConvertible {
    /// The number; more than zero.
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    package static let layout = Layout(Self.init, \.rawValue)

    package var description: String { "\(rawValue)" }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A download to a file, or an upload of a file.
package struct TransferRequest: Sendable, Hashable {
    /// The direction of a transfer.
    package enum Kind: UInt8, WireValue, Hashable {
        /// The body of the response is saved to a file.
        case download = 1
        /// A file is the body of the request; the body of the response is saved to a file as well.
        case upload = 2
    }

    /// The redirects that are followed; the response of any other one is the result.
    package enum Redirects: UInt8, WireValue, Hashable {
        case all = 1
        /// The redirects within scheme, host and port.
        case sameOrigin = 2
        case none = 3
    }

    package var kind: Kind
    /// The URL, of at most 32,768 bytes; its user and password are sent as credentials.
    package var url: String
    /// The HTTP method; `GET` for downloads and `PUT` for uploads by default.
    package var method: String
    /// The header fields of the request, of at most 16,384 bytes; `Range` and `If-Range` are ignored.
    package var headers = HTTPHeaders()
    /// Bytes that the application keeps with the transfer; at most 4,096.
    package var note: [UInt8] = []
    /// The expected number of bytes of the body of a download, for the order and the quota; `nil` if unknown.
    package var expectedLength: Int?
    /// The priority, -128 to 127; 0 by default.
    ///
    /// Transfers with a higher one start first within an application.
    package var priority: Int8 = 0
    /// The data of a cancelled download, which is continued if it is still there; `nil` by default.
    package var resumeData: [UInt8]?
    /// The time of day before which the transfer does not begin; `nil`, at once, by default.
    package var earliestBegin: Timestamp?
    /// The absolute path of the file to upload; `nil` for a download.
    package var filePath: String?
    /// The redirects that are followed; all by default.
    package var redirects = Redirects.all
}

extension TransferRequest {
    package init(download url: String) { self.init(kind: .download, url: url, method: "GET") }

    /// Creates an upload of the file at `path`.
    package init(upload path: String, to url: String, method: String = "PUT") {
        self.init(kind: .upload, url: url, method: method, filePath: path)
    }
}

extension TransferRequest: WireRecord {
    package static let layout = Layout(
        Self.init(kind:url:method:headers:note:expectedLength:priority:resumeData:earliestBegin:filePath:redirects:),
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
        Field(\.filePath, .constant(nil)),
        Field(\.redirects)
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
