import EideticCore
import EideticHTTP

/// The data with which a cancelled download is continued: its request, and the transfer process's name of the part.
struct ResumableRequest: WireEncodable, WireDecodable {
    private static let signature: UInt32 = 0x3152_4445

    let request: BackgroundURLSession.Request
    let data: [UInt8]

    init(request: BackgroundURLSession.Request, data: [UInt8]) { (self.request, self.data) = (request, data) }

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

    init(from reader: inout WireReader) throws(WireError) {
        let signature = try reader.integer(UInt32.self)
        guard signature == Self.signature else {
            throw .unknownCase(type: "ResumableRequest", value: UInt64(signature))
        }
        let url = try reader.text()
        guard var request = try? BackgroundURLSession.Request(url: url) else { throw .invalidText(offset: 4) }
        request.httpMethod = try reader.text(limit: 64)
        let fields = try reader.list { reader throws(WireError) in
            HTTPHeaders.Field(name: try reader.text(), value: try reader.text())
        }
        request.headers = HTTPHeaders(fields)
        self.request = request
        data = try reader.blob()
    }

    func write(to writer: inout WireWriter) {
        writer.append(Self.signature)
        writer.append(request.url)
        writer.append(request.httpMethod)
        writer.append(list: request.headers.fields) { writer, field in
            writer.append(field.name)
            writer.append(field.value)
        }
        writer.append(data)
    }
}
