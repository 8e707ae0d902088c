import EideticCore
import Glibc

/// The format of an entry's file: the body, and a footer of key, metadata and trailer.
///
/// The body comes first, so that other programs can open the file in the body's own format. New metadata are a new
/// footer after the old one (``DiskCache/replaceMetadata(of:with:)``): the body is not touched, and if a kill cuts the
/// new footer off, the old one is still complete.
///
/// The trailer is the last 64 bytes, in little-endian order:
///
/// | offset | bytes | content |
/// |---|---|---|
/// | 0 | 8 | "EIDETIC" and the version, 2 |
/// | 8 | 8 | size of the body |
/// | 16 | 4 | size of the key |
/// | 20 | 4 | size of the metadata |
/// | 24 | 8 | storage time, nanoseconds since 1970 |
/// | 32 | 8 | expiration time; the largest number if there is none |
/// | 40 | 1 | kind |
/// | 41 | 1 | importance |
/// | 42 | 2 | 0 |
/// | 44 | 4 | size of the superseded footers between body and key |
/// | 48 | 8 | XXH3 of the body |
/// | 56 | 8 | XXH3 of the key, the metadata and the trailer up to here |
enum EntryFile {
    static let trailerSize = 64
    /// The text EIDETIC, and the version of the format.
    static let magic: UInt64 = 0x02_43_49_54_45_44_49_45
    /// The largest size of a key, in bytes of UTF-8.
    static let keySizeLimit = 1 << 16
    /// The largest size of a file, which the ledger stores in 32 bits.
    static let sizeLimit = Int(UInt32.max)

    /// The reason that a file is not a valid entry.
    enum FormatError: Error, Hashable, CustomStringConvertible {
        case notRegularFile, tooShort(Int), badMagic, badLengths, badFooterChecksum, badBodyChecksum, badMetadata
        case otherVersion(UInt8), keyMismatch(String)

        var description: String {
            switch self {
            case .notRegularFile: "not a regular file"
            case .tooShort(let size): "too short for an entry: \(size) bytes"
            case .badMagic: "no entry trailer: the file is truncated or not an entry"
            case .otherVersion(let version): "an entry of version \(version) of the format"
            case .badLengths: "the lengths in the trailer do not match the size of the file"
            case .badFooterChecksum: "checksum mismatch in key and metadata"
            case .badBodyChecksum: "checksum mismatch in the bytes"
            case .badMetadata: "invalid metadata"
            case .keyMismatch(let key): "the file belongs to another key, \"\(key)\""
            }
        }
    }

    /// The part of a file after the body.
    struct Footer {
        let key: String
        let metadata: DiskCache.Metadata
        let bodySize: Int
        let bodyChecksum: UInt64
        var matchesExpectedKey = false

        /// Encodes the footer, which follows the body and superseded footers of `supersededSize` bytes.
        func encoded(supersededSize: Int = 0) -> [UInt8] {
            var key = key
            var footer: [UInt8] = []
            footer.reserveCapacity(key.utf8.count + EntryFile.trailerSize + (metadata.headers.isEmpty ? 0 : 1_024))
            key.withUTF8 { footer.append(contentsOf: $0) }
            MetadataCoding.append(metadata, to: &footer)
            let metadataSize = footer.count - key.utf8.count
            footer.append(EntryFile.magic)
            footer.append(UInt64(bodySize))
            footer.append(UInt32(key.utf8.count))
            footer.append(UInt32(metadataSize))
            footer.append(UInt64(bitPattern: metadata.storageTime.nanoseconds))
            footer.append(UInt64(bitPattern: metadata.expirationTime?.nanoseconds ?? .max))
            let flags = UInt64(metadata.kind.rawValue) | UInt64(metadata.importance.rawValue) << 8
            footer.append(flags | UInt64(supersededSize) << 32)
            footer.append(bodyChecksum)
            footer.append(footer.withUnsafeBytes { Checksum.value(of: $0) })
            return footer
        }
    }

    /// Encodes the footer of a new file; `checksum` is that of the body, if it is known.
    static func encodedFooter(
        for body: UnsafeRawBufferPointer,
        checksum: UInt64? = nil,
        key: String,
        metadata: DiskCache.Metadata
    ) -> [UInt8] {
        let checksum = checksum ?? Checksum.value(of: body)
        return Footer(key: key, metadata: metadata, bodySize: body.count, bodyChecksum: checksum).encoded()
    }

    /// Returns the size of the footer of a file of `fileSize` bytes, from its trailer.
    static func footerSize(trailer: UnsafeRawBufferPointer, fileSize: Int) throws(FormatError) -> Int {
        guard trailer.count >= trailerSize else { throw .tooShort(fileSize) }
        let start = trailer.count - trailerSize
        let signature = trailer.number(UInt64.self, at: start)
        let version = UInt8(signature >> 56)
        guard signature << 8 == magic << 8 else { throw .badMagic }
        guard signature == magic else { throw .otherVersion(version) }
        let body = trailer.number(UInt64.self, at: start + 8)
        let keySize = Int(trailer.number(UInt32.self, at: start + 16))
        let metadataSize = Int(trailer.number(UInt32.self, at: start + 20))
        let supersededSize = Int(trailer.number(UInt32.self, at: start + 44))
        let footerSize = keySize + metadataSize + trailerSize
        guard fileSize >= supersededSize + footerSize, body == UInt64(fileSize - supersededSize - footerSize) else {
            throw .badLengths
        }
        return footerSize
    }

    /// Decodes and verifies a footer.
    ///
    /// If the key has the same bytes as `expected`, the footer shares that string instead of decoding another.
    static func decodeFooter(
        _ bytes: UnsafeRawBufferPointer,
        expecting expected: String? = nil
    ) throws(FormatError) -> Footer {
        let trailer = bytes.count - trailerSize
        let checked = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 8)])
        guard Checksum.value(of: checked) == bytes.number(UInt64.self, at: bytes.count - 8) else {
            throw .badFooterChecksum
        }
        let keySize = Int(bytes.number(UInt32.self, at: trailer + 16))
        let text = UnsafeRawBufferPointer(rebasing: bytes[keySize..<trailer])
        guard var metadata = MetadataCoding.decode(text) else { throw .badMetadata }
        metadata.storageTime = Timestamp(nanoseconds: Int64(bitPattern: bytes.number(UInt64.self, at: trailer + 24)))
        let expiration = Int64(bitPattern: bytes.number(UInt64.self, at: trailer + 32))
        metadata.expirationTime = expiration == .max ? nil : Timestamp(nanoseconds: expiration)
        guard let kind = EntryKind(rawValue: bytes[trailer + 40]),
            let importance = EntryImportance(rawValue: bytes[trailer + 41])
        else { throw .badMetadata }
        metadata.kind = kind
        metadata.importance = importance
        let key = UnsafeRawBufferPointer(rebasing: bytes[..<keySize])
        var expected = expected
        let matches = expected?.withUTF8 { isEqual($0, to: key) } ?? false
        return Footer(
            key: matches ? expected ?? "" : String(decoding: key, as: UTF8.self),
            metadata: metadata,
            bodySize: Int(truncatingIfNeeded: bytes.number(UInt64.self, at: trailer + 8)),
            bodyChecksum: bytes.number(UInt64.self, at: trailer + 48),
            matchesExpectedKey: matches
        )
    }

    /// Verifies a file, and returns its entry.
    ///
    /// The file's bytes become the entry's without a copy.
    static func decodeEntry(_ file: consuming [UInt8], expecting key: String?) throws(FormatError) -> DiskCache.Entry {
        let size = file.count
        let footer = try file.withUnsafeBufferPointer { file throws(FormatError) -> Footer in
            let file = UnsafeRawBufferPointer(file)
            let footerSize = try Self.footerSize(trailer: file, fileSize: size)
            let footer = try Self.decodeFooter(
                UnsafeRawBufferPointer(rebasing: file.suffix(footerSize)),
                expecting: key
            )
            guard footer.matchesExpectedKey || key == nil else { throw .keyMismatch(footer.key) }
            let body = UnsafeRawBufferPointer(rebasing: file[..<footer.bodySize])
            guard Checksum.value(of: body) == footer.bodyChecksum else { throw .badBodyChecksum }
            return footer
        }
        file.removeLast(size - footer.bodySize)
        return DiskCache.Entry(key: footer.key, bytes: file, metadata: footer.metadata)
    }

    /// Returns the end of the last complete footer in the end of a file, or `nil` if there is none.
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

    /// Returns `true` if two keys have the same bytes.
    ///
    /// Swift's `==` would also accept canonically equivalent strings.
    private static func isEqual(_ key: UnsafeBufferPointer<UInt8>, to other: UnsafeRawBufferPointer) -> Bool {
        guard key.count == other.count else { return false }
        guard let first = key.baseAddress, let second = other.baseAddress else { return true }
        return memcmp(first, second, other.count) == 0
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the little-endian number at `offset`.
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

extension DiskCache.Entry {
    /// The version of the format of files and of values in a shared tier; what has another one is not read.
    package static let formatVersion = UInt8(EntryFile.magic >> 56)
}
