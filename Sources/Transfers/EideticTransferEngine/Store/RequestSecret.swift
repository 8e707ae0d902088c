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
struct ResumeData: Sendable, Hashable {
    /// The name of the file with the part; letters and digits.
    var token: String
    var part: PartDescription
    var url: String

    private static let magic: UInt32 = 0x3152_4445

    var bytes: [UInt8] {
        var writer = WireWriter()
        writer.append(Self.magic)
        writer.append(token)
        writer.append(part)
        writer.append(url)
        return writer.bytes
    }

    /// Reads the data; `nil` if it is not such data.
    init?(_ bytes: [UInt8]) {
        var reader = WireReader(bytes)
        guard (try? reader.integer(UInt32.self)) == Self.magic, let token = try? reader.text(limit: 64),
            !token.isEmpty, token.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) }),
            let part = try? PartDescription(from: &reader), let url = try? reader.text()
        else { return nil }
        (self.token, self.part, self.url) = (token, part, url)
    }

    init(token: String, part: PartDescription, url: String) {
        (self.token, self.part, self.url) = (token, part, url)
    }
}
