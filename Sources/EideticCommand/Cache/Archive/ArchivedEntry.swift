import EideticCore
import EideticStore

/// An entry as a member of an archive: a picture file that any tar program unpacks, with the rest in records.
struct ArchivedEntry {
    let key: String
    let bytes: [UInt8]
    let metadata: DiskCache.Metadata

    init(_ entry: DiskCache.Entry) {
        (key, bytes, metadata) = (entry.key, entry.bytes, entry.metadata)
    }

    private static let prefix = "EIDETIC."
    private static let headerPrefix = "EIDETIC.header."

    /// What is stored beside the bytes.
    var records: TarRecords {
        var records = TarRecords()
        records.add(Self.prefix + "key", key)
        records.add(Self.prefix + "checksum", Self.checksum(bytes))
        records.add(Self.prefix + "stored", "\(metadata.stored.nanoseconds)")
        if let expires = metadata.expires { records.add(Self.prefix + "expires", "\(expires.nanoseconds)") }
        records.add(Self.prefix + "kind", "\(metadata.kind.rawValue)")
        records.add(Self.prefix + "importance", "\(metadata.importance.rawValue)")
        for field in metadata.headers { records.add(Self.headerPrefix + field.name, field.value) }
        if !metadata.extendedData.isEmpty { records.fields.append((Self.prefix + "data", metadata.extendedData)) }
        return records
    }

    /// Reads a member; throws `checksumMismatch`, or `corrupt` where a record is missing.
    init(_ bytes: [UInt8], _ records: TarRecords) throws(EideticError) {
        guard let key = records.text(Self.prefix + "key"), !key.isEmpty else {
            throw EideticError(.corrupt, "a member without a key")
        }
        guard records.text(Self.prefix + "checksum") == Self.checksum(bytes) else {
            throw EideticError(.checksumMismatch, "\(key): the bytes do not match their checksum")
        }
        self.key = key
        self.bytes = bytes
        metadata = Self.metadata(records)
    }

    private static func metadata(_ records: TarRecords) -> DiskCache.Metadata {
        func number<Number: FixedWidthInteger>(_ name: String) -> Number? {
            records.text(prefix + name).flatMap { Number($0) }
        }
        var metadata = DiskCache.Metadata()
        metadata.stored = Timestamp(nanoseconds: number("stored") ?? 0)
        metadata.expires = number("expires").map { Timestamp(nanoseconds: $0) }
        metadata.kind = number("kind").flatMap { .init(rawValue: $0) } ?? .original
        metadata.importance = number("importance").flatMap { .init(rawValue: $0) } ?? .viewed
        metadata.extendedData = records[prefix + "data"] ?? []
        metadata.headers = records.fields.compactMap { name, value in
            guard name.hasPrefix(headerPrefix) else { return nil }
            let text = String(decoding: value, as: UTF8.self)
            return .init(name: String(name.dropFirst(headerPrefix.count)), value: text)
        }
        return metadata
    }

    private static func checksum(_ bytes: [UInt8]) -> String {
        String(bytes.withUnsafeBytes { Checksum.of($0) }, radix: 16)
    }
}
