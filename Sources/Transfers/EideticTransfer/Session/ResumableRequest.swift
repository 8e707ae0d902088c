import EideticCore
import EideticHTTP

/// The data with which a cancelled download is continued: its request, and the transfer process's name of the part.
struct ResumableRequest: WireRecord {
    let request: BackgroundURLSession.Request
    let data: [UInt8]

    init(request: BackgroundURLSession.Request, data: [UInt8]) {
        self.request = request
        self.data = data
    }

    /// Creates resume data from the bytes that an application has kept.
    init(_ bytes: [UInt8]) throws(EideticError) {
        do throws(WireError) {
            self = try WireReader.decode(ResumableRequest.self, from: bytes)
        } catch {
            throw EideticError(.invalidArgument, message: "these bytes are not resume data: \(error)")
        }
    }

    /// The bytes for the application.
    var bytes: [UInt8] { WireWriter.encode(self) }

    private init?(
        url: String,
        method: String,
        headers: HTTPHeaders,
        data: [UInt8],
        redirects: TransferRequest.Redirects
    ) {
        guard var request = try? BackgroundURLSession.Request(url: url) else { return nil }
        request.httpMethod = method
        request.headers = headers
        request.redirects = .init(redirects)
        self.init(request: request, data: data)
    }

    static let layout = Layout<Self>(
        validating: Self.init(url:method:headers:data:redirects:),
        Field(\.request.url),
        Field(\.request.httpMethod, .text(limit: 64)),
        Field(\.request.headers),
        Field(\.data),
        Field(\.request.redirects.value)
    )
    .preceded(by: 0x3252_4445 as UInt32)
}
