import EideticCore
import Glibc

/// The format of an entry's file: body, key, metadata, trailer.
///
/// Metadata change by a new head behind the old one (``DiskCache/refresh(_:with:)``): the body is not touched, and a
/// head that a kill cut off is told from the one before, which is whole.
///
/// The body comes first, so that the file can be opened by any program that reads its format, and can be handed out
/// without a copy. The trailer (64 bytes, little endian) makes the file describe itself:
///
/// | offset | bytes | |
/// |---|---|---|
/// | 0 | 8 | "EIDETIC" and the version, 1 |
/// | 8 | 8 | bytes of the body |
/// | 16 | 4 | bytes of the key |
/// | 20 | 4 | bytes of the metadata |
/// | 24 | 8 | time of the write, nanoseconds since 1970 |
/// | 32 | 8 | time of expiry; the largest number where there is none |
/// | 40 | 1 | kind |
/// | 41 | 1 | importance |
/// | 42 | 2 | 0 |
/// | 44 | 4 | bytes between the body and the key: heads that were there before |
/// | 48 | 8 | XXH3 of the body |
/// | 56 | 8 | XXH3 of key, metadata and the trailer up to here |
enum EntryFile {
    static let trailerSize = 64
    static let magic: UInt64 = 0x01_43_49_54_45_44_49_45
    /// The longest key, in bytes of UTF-8.
    static let keySizeLimit = 1 << 16
    /// The largest file: the ledger counts in 32 bits.
    static let sizeLimit = Int(UInt32.max)

    /// Why a file is not an entry.
    enum FormatError: Error, Hashable, CustomStringConvertible {
        case notRegularFile, tooShort(Int), badMagic, badLengths, badFooterChecksum, badBodyChecksum, badMetadata
        case keyMismatch(String)

        var description: String {
            switch self {
            case .notRegularFile: "it is not a regular file"
            case .tooShort(let size): "\(size) bytes are too few for an entry"
            case .badMagic: "it does not end as an entry does: cut off, or not an entry"
            case .badLengths: "its lengths do not add up to its size"
            case .badFooterChecksum: "the checksum of its key and metadata does not match"
            case .badBodyChecksum: "the checksum of its bytes does not match"
            case .badMetadata: "its metadata cannot be read"
            case .keyMismatch(let key): "it belongs to another key, \"\(key)\""
            }
        }
    }

    /// The part of a file after the body.
    struct Footer {
        let key: String
        let metadata: DiskCache.Metadata
        let bodySize: Int
        let bodyChecksum: UInt64
        /// Whether the key is the one that was expected.
        var matchesExpectedKey = false

        /// Makes the bytes of the head, which follow the body and heads of `superseded` bytes.
        func encoded(supersededSize: Int = 0) -> [UInt8] {
            var key = key
            var head: [UInt8] = []
            head.reserveCapacity(key.utf8.count + EntryFile.trailerSize + (metadata.headers.isEmpty ? 0 : 1_024))
            key.withUTF8 { head.append(contentsOf: $0) }
            MetadataCoding.append(metadata, to: &head)
            let metadataSize = head.count - key.utf8.count
            head.append(EntryFile.magic)
            head.append(UInt64(bodySize))
            head.append(UInt32(key.utf8.count))
            head.append(UInt32(metadataSize))
            head.append(UInt64(bitPattern: metadata.storageTime.nanoseconds))
            head.append(UInt64(bitPattern: metadata.expirationTime?.nanoseconds ?? .max))
            let flags = UInt64(metadata.kind.rawValue) | UInt64(metadata.importance.rawValue) << 8
            head.append(flags | UInt64(supersededSize) << 32)
            head.append(bodyChecksum)
            head.append(head.withUnsafeBytes { Checksum.value(of: $0) })
            return head
        }
    }

    /// Makes the part after the body.
    static func encodedFooter(for body: UnsafeRawBufferPointer, key: String, metadata: DiskCache.Metadata) -> [UInt8] {
        Footer(key: key, metadata: metadata, bodySize: body.count, bodyChecksum: Checksum.value(of: body)).encoded()
    }

    /// The size of the head, from the trailer alone, for a file of `fileSize` bytes.
    static func footerSize(trailer: UnsafeRawBufferPointer, fileSize: Int) throws(FormatError) -> Int {
        guard trailer.count >= trailerSize else { throw .tooShort(fileSize) }
        let start = trailer.count - trailerSize
        guard trailer.number(UInt64.self, at: start) == magic else { throw .badMagic }
        let body = trailer.number(UInt64.self, at: start + 8)
        let keyAndMetadataSize =
            Int(trailer.number(UInt32.self, at: start + 16)) + Int(trailer.number(UInt32.self, at: start + 20))
        let supersededSize = Int(trailer.number(UInt32.self, at: start + 44))
        guard fileSize >= supersededSize + keyAndMetadataSize + trailerSize,
            body == UInt64(fileSize - supersededSize - keyAndMetadataSize - trailerSize)
        else {
            throw .badLengths
        }
        return keyAndMetadataSize + trailerSize
    }

    /// Reads and verifies the head, which is the last part of a file.
    ///
    /// The key is the same text as `expected` where the bytes are, which saves making another.
    static func decodeFooter(_ bytes: UnsafeRawBufferPointer, expecting expected: String? = nil) throws(FormatError)
        -> Footer
    {
        let trailer = bytes.count - trailerSize
        let checked = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 8)])
        guard Checksum.value(of: checked) == bytes.number(UInt64.self, at: bytes.count - 8) else {
            throw .badFooterChecksum
        }
        let keySize = Int(bytes.number(UInt32.self, at: trailer + 16))
        let text = UnsafeRawBufferPointer(rebasing: bytes[keySize..<trailer])
        guard var metadata = MetadataCoding.decode(text) else { throw .badMetadata }
        metadata.storageTime = Timestamp(nanoseconds: Int64(bitPattern: bytes.number(UInt64.self, at: trailer + 24)))
        let expires = Int64(bitPattern: bytes.number(UInt64.self, at: trailer + 32))
        metadata.expirationTime = expires == .max ? nil : Timestamp(nanoseconds: expires)
        guard let kind = DiskCache.Metadata.Kind(rawValue: bytes[trailer + 40]),
            let importance = DiskCache.Metadata.Importance(rawValue: bytes[trailer + 41])
        else { throw .badMetadata }
        (metadata.kind, metadata.importance) = (kind, importance)
        let key = UnsafeRawBufferPointer(rebasing: bytes[..<keySize])
        var expected = expected
        let isExpected = expected?.withUTF8 { isEqual($0, to: key) } ?? false
        return Footer(
            key: isExpected ? expected ?? "" : String(decoding: key, as: UTF8.self),
            metadata: metadata,
            bodySize: Int(truncatingIfNeeded: bytes.number(UInt64.self, at: trailer + 8)),
            bodyChecksum: bytes.number(UInt64.self, at: trailer + 48),
            matchesExpectedKey: isExpected
        )
    }

    /// Verifies a whole file, and cuts it down to its body.
    static func decodeEntry(_ file: consuming [UInt8], expecting key: String?) throws(FormatError) -> DiskCache.Entry {
        let size = file.count
        let head = try file.withUnsafeBufferPointer { file throws(FormatError) -> Footer in
            let file = UnsafeRawBufferPointer(file)
            let headSize = try Self.footerSize(trailer: file, fileSize: size)
            let head = try Self.decodeFooter(UnsafeRawBufferPointer(rebasing: file.suffix(headSize)), expecting: key)
            guard head.matchesExpectedKey || key == nil else { throw .keyMismatch(head.key) }
            let body = UnsafeRawBufferPointer(rebasing: file[..<head.bodySize])
            guard Checksum.value(of: body) == head.bodyChecksum else { throw .badBodyChecksum }
            return head
        }
        file.removeLast(size - head.bodySize)
        return DiskCache.Entry(key: head.key, bytes: file, metadata: head.metadata)
    }

    /// Where the latest head ends that is whole, in a file whose end is `tail`; `nil` where there is none.
    static func endOfLastFooter(in tail: UnsafeRawBufferPointer, fileSize: Int) -> Int? {
        let start = fileSize - tail.count
        var end = tail.count
        while end >= trailerSize {
            let part = UnsafeRawBufferPointer(rebasing: tail[..<end])
            if part.number(UInt64.self, at: end - trailerSize) == magic,
                let size = try? footerSize(trailer: part, fileSize: start + end), size <= end,
                (try? decodeFooter(UnsafeRawBufferPointer(rebasing: part.suffix(size)))) != nil
            {
                return start + end
            }
            end -= 1
        }
        return nil
    }

    /// Whether two keys are the same bytes: Swift's `==` would also take equivalent spellings for the same.
    private static func isEqual(_ one: UnsafeBufferPointer<UInt8>, to other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        guard let one = one.baseAddress, let first = other.baseAddress else { return true }
        return memcmp(one, first, other.count) == 0
    }
}

extension UnsafeRawBufferPointer {
    /// The little-endian number at `offset`.
    func number<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type, at offset: Int) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension [UInt8] {
    /// Appends a number in little-endian order.
    mutating func append(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
