import EideticCore
import EideticHTTP
import EideticStore

/// A cache entry as a member of an archive: an image file that any tar program extracts, with metadata in pax records.
struct ArchivedEntry {
    let key: String
    let bytes: [UInt8]
    let metadata: DiskCache.Metadata

    init(_ entry: DiskCache.Entry) {
        (key, bytes, metadata) = (entry.key, entry.bytes, entry.metadata)
    }

    private static let prefix = "EIDETIC."
    private static let headerPrefix = "EIDETIC.header."

    /// The pax records with key, checksum and metadata.
    var records: PaxRecords {
        var records = PaxRecords()
        records.append(name: Self.prefix + "key", value: key)
        records.append(name: Self.prefix + "checksum", value: Self.checksum(of: bytes))
        records.append(name: Self.prefix + "stored", value: "\(metadata.storageTime.nanoseconds)")
        if let expires = metadata.expirationTime {
            records.append(name: Self.prefix + "expires", value: "\(expires.nanoseconds)")
        }
        records.append(name: Self.prefix + "kind", value: "\(metadata.kind.rawValue)")
        records.append(name: Self.prefix + "importance", value: "\(metadata.importance.rawValue)")
        for field in metadata.headers { records.append(name: Self.headerPrefix + field.name, value: field.value) }
        if !metadata.extendedData.isEmpty { records.fields.append((Self.prefix + "data", metadata.extendedData)) }
        return records
    }

    /// Creates an entry from a member of an archive.
    ///
    /// - Throws: `checksumMismatch`; `corrupt` if there is no key.
    init(bytes: [UInt8], records: PaxRecords) throws(EideticError) {
        guard let key = records.text(named: Self.prefix + "key"), !key.isEmpty else {
            throw EideticError(.corrupt, message: "a member has no key")
        }
        guard records.text(named: Self.prefix + "checksum") == Self.checksum(of: bytes) else {
            throw EideticError(.checksumMismatch, message: "\(key): the bytes do not match their checksum")
        }
        self.key = key
        self.bytes = bytes
        metadata = Self.metadata(from: records)
    }

    private static func metadata(from records: PaxRecords) -> DiskCache.Metadata {
        func number<Number: FixedWidthInteger>(named name: String) -> Number? {
            records.text(named: prefix + name).flatMap { Number($0) }
        }
        var metadata = DiskCache.Metadata()
        metadata.storageTime = Timestamp(nanoseconds: number(named: "stored") ?? 0)
        metadata.expirationTime = number(named: "expires").map { Timestamp(nanoseconds: $0) }
        metadata.kind = number(named: "kind").flatMap { .init(rawValue: $0) } ?? .original
        metadata.importance = number(named: "importance").flatMap { .init(rawValue: $0) } ?? .viewed
        metadata.extendedData = records[prefix + "data"] ?? []
        metadata.headers = records.fields.compactMap { name, value in
            guard name.hasPrefix(headerPrefix) else { return nil }
            let text = String(decoding: value, as: UTF8.self)
            return .init(name: String(name.dropFirst(headerPrefix.count)), value: text)
        }
        return metadata
    }

    private static func checksum(of bytes: [UInt8]) -> String {
        String(bytes.withUnsafeBytes { Checksum.value(of: $0) }, radix: 16)
    }
}
