import EideticHTTP

/// The encoding of an entry's header fields and extended data.
///
/// The number of fields, then the two lengths (32 bits, little endian) and texts of each field, then the extended data
/// up to the end.
enum MetadataCoding {
    static func append(_ metadata: DiskCache.Metadata, to bytes: inout [UInt8]) {
        if metadata.headers.isEmpty, metadata.extendedData.isEmpty { return }
        bytes.append(UInt32(metadata.headers.count))
        for field in metadata.headers {
            bytes.append(UInt32(field.name.utf8.count))
            bytes.append(UInt32(field.value.utf8.count))
            bytes.append(contentsOf: field.name.utf8)
            bytes.append(contentsOf: field.value.utf8)
        }
        bytes.append(contentsOf: metadata.extendedData)
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
            metadata.headers.append(DiskCache.Metadata.Field(name: name, value: value))
        }
        metadata.extendedData = Array(bytes[reader.offset...])
        return metadata
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var offset = 0

        mutating func readLength() -> Int? {
            guard bytes.count - offset >= 4 else { return nil }
            defer { offset += 4 }
            return Int(bytes.number(UInt32.self, at: offset))
        }

        mutating func readText(size: Int) -> String? {
            guard bytes.count - offset >= size else { return nil }
            defer { offset += size }
            return String(decoding: bytes[offset..<(offset + size)], as: UTF8.self)
        }
    }
}
