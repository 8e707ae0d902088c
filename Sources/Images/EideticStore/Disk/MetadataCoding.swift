import EideticCore
import EideticHTTP

/// The encoding of an entry's header fields, its response and extended data.
///
/// The number of fields, then the two lengths and texts of each field; flags, and where they say so the record of the
/// response; then the extended data up to the end. Numbers are in little-endian order, lengths have 32 bits.
enum MetadataCoding {
    /// The parts of a record that are there, and its Boolean values.
    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let record = Flags(rawValue: 1)
        static let requestTime = Flags(rawValue: 2)
        static let responseTime = Flags(rawValue: 4)
        static let redirectLifetime = Flags(rawValue: 8)
        static let replacementTime = Flags(rawValue: 16)
        static let mustRevalidateRedirects = Flags(rawValue: 32)
        static let dependsOnHooks = Flags(rawValue: 64)
        static let all = Flags(rawValue: 127)
    }

    static func append(_ metadata: DiskCache.Metadata, to bytes: inout [UInt8]) {
        let hasRecord = metadata.response != ResponseRecord()
        if metadata.headers.isEmpty, metadata.extendedData.isEmpty, !hasRecord { return }
        bytes.append(UInt32(metadata.headers.count))
        for field in metadata.headers {
            bytes.append(UInt32(field.name.utf8.count))
            bytes.append(UInt32(field.value.utf8.count))
            bytes.append(contentsOf: field.name.utf8)
            bytes.append(contentsOf: field.value.utf8)
        }
        if hasRecord { append(metadata.response, to: &bytes) } else { bytes.append(UInt8(0)) }
        bytes.append(contentsOf: metadata.extendedData)
    }

    private static func append(_ record: ResponseRecord, to bytes: inout [UInt8]) {
        let times: [(Flags, Int64?)] = [
            (.requestTime, record.requestTime?.nanoseconds),
            (.responseTime, record.responseTime?.nanoseconds),
            (.redirectLifetime, record.redirectLifetime?.inNanoseconds),
            (.replacementTime, record.replacementTime?.nanoseconds),
        ]
        var flags = Flags.record
        for (flag, time) in times where time != nil { flags.insert(flag) }
        if record.mustRevalidateRedirects { flags.insert(.mustRevalidateRedirects) }
        if record.dependsOnHooks { flags.insert(.dependsOnHooks) }
        bytes.append(flags.rawValue)
        for (_, time) in times { if let time { bytes.append(time) } }
        bytes.append(Int64(record.status))
        bytes.append(record.effectiveURL)
        bytes.append(record.variants)
        for text in [record.selectingDigest, record.placeholder] {
            bytes.append(UInt32(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }
    }

    /// Decodes metadata, or returns `nil` for bytes that `append` did not write.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> DiskCache.Metadata? {
        var metadata = DiskCache.Metadata()
        var reader = Reader(bytes: bytes)
        if bytes.isEmpty { return metadata }
        guard let count = reader.readLength() else { return nil }
        for _ in 0..<count {
            guard let nameSize = reader.readLength(), let valueSize = reader.readLength(),
                let name = reader.readText(size: nameSize), let value = reader.readText(size: valueSize)
            else { return nil }
            metadata.headers.append(HTTPHeaders.Field(name: name, value: value))
        }
        guard let flags = reader.readNumber(UInt8.self).map(Flags.init) else { return nil }
        if flags != [] {
            guard flags.contains(.record), flags.isSubset(of: .all), let record = reader.readRecord(flags) else {
                return nil
            }
            metadata.response = record
        }
        metadata.extendedData = Array(bytes[reader.offset...])
        return metadata
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var offset = 0

        mutating func readNumber<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) -> Number? {
            let size = Number.bitWidth / 8
            guard bytes.count - offset >= size else { return nil }
            defer { offset += size }
            return bytes.number(type, at: offset)
        }

        mutating func readLength() -> Int? { readNumber(UInt32.self).map(Int.init) }

        mutating func readText(size: Int) -> String? {
            guard bytes.count - offset >= size else { return nil }
            defer { offset += size }
            return String(decoding: bytes[offset..<(offset + size)], as: UTF8.self)
        }

        mutating func readRecord(_ flags: Flags) -> ResponseRecord? {
            var record = ResponseRecord()
            var times: [Int64?] = []
            for flag in [Flags.requestTime, .responseTime, .redirectLifetime, .replacementTime] {
                let time = flags.contains(flag) ? readNumber(Int64.self) : nil
                guard flags.contains(flag) == (time != nil) else { return nil }
                times.append(time)
            }
            guard let status = readNumber(Int64.self), let effectiveURL = readNumber(UInt64.self),
                let variants = readNumber(UInt64.self),
                let digestSize = readLength(), let digest = readText(size: digestSize),
                let placeholderSize = readLength(), let placeholder = readText(size: placeholderSize)
            else { return nil }
            record.requestTime = times[0].map { Timestamp(nanoseconds: $0) }
            record.responseTime = times[1].map { Timestamp(nanoseconds: $0) }
            record.redirectLifetime = times[2].map { .nanoseconds($0) }
            record.replacementTime = times[3].map { Timestamp(nanoseconds: $0) }
            record.mustRevalidateRedirects = flags.contains(.mustRevalidateRedirects)
            record.dependsOnHooks = flags.contains(.dependsOnHooks)
            record.status = Int(status)
            record.effectiveURL = effectiveURL
            record.variants = variants
            record.selectingDigest = digest
            record.placeholder = placeholder
            return record
        }
    }
}
