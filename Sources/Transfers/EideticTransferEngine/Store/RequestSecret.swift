import EideticCore
import EideticHTTP

/// The header fields of a request, which may contain credentials, as bytes that are erased when the transfer has ended.
enum RequestSecret {
    /// Returns the bytes; empty without fields.
    static func encode(_ headers: HTTPHeaders) -> [UInt8] {
        guard !headers.isEmpty else { return [] }
        let fields = WireWriter.encode(headers)
        var writer = WireWriter()
        writer.append(fields.withUnsafeBytes { Checksum.value(of: $0) })
        return writer.bytes + fields
    }

    /// Returns the fields; `nil` if they were erased or truncated.
    static func decode(_ bytes: [UInt8]) -> HTTPHeaders? {
        guard bytes.count > 8 else { return nil }
        var reader = WireReader(Array(bytes.prefix(8)))
        let fields = Array(bytes.dropFirst(8))
        let checksum = fields.withUnsafeBytes { Checksum.value(of: $0) }
        guard (try? reader.integer(UInt64.self)) == checksum else { return nil }
        return try? WireReader.decode(HTTPHeaders.self, from: fields)
    }
}

/// The data with which an application continues a cancelled download.
struct ResumeData: WireRecord, Hashable {
    /// The name of the file with the part; letters and digits.
    var token: String
    var part: PartDescription
    var url: String

    static let layout = Layout(
        Self.init,
        Field(\.token, .text(limit: 64).validated(isToken)),
        Field(\.part),
        Field(\.url)
    )
    .preceded(by: 0x3152_4445 as UInt32)

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) }
    }
}
