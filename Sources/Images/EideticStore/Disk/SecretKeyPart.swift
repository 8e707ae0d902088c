package import EideticCore

/// The part of a key that stands for secrets: the header fields and credentials of a request.
///
/// In memory it is a digest of the secret. From that a weak password could be found by trying, so it is never written:
/// a disk cache stores a digest that is made with the random key of its directory.
package enum SecretKeyPart {
    private static let marker = Array("\nsecret:".utf8)
    private static let storedMarker = Array("\nhashed:".utf8)
    private static let digitCount = 2 * Digest.size

    /// Returns the part that stands for a secret.
    package static func text(for secret: String) -> String {
        String(decoding: marker, as: UTF8.self) + Digest(sha256: Array(secret.utf8)).hexadecimal
    }

    /// Returns a key in the form in which it is stored; a key without secrets, or in that form, is not changed.
    static func stored(
        _ key: String,
        directoryKey: () throws(EideticError) -> [UInt8]
    ) throws(EideticError) -> String {
        guard key.contains(byte: UInt8(ascii: "\n")) else { return key }
        var bytes = Array(key.utf8)
        let ends = ends(of: marker, in: bytes)
        if ends.isEmpty { return key }
        let original = bytes
        let secret = try directoryKey()
        for end in ends {
            // The URL is digested as well, so that equal passwords are not seen to be equal.
            let digest = Digest(hmacSHA256: Array(original[..<end]), key: secret).hexadecimal
            bytes.replaceSubrange((end - digitCount - marker.count)..<end, with: storedMarker + Array(digest.utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns `true` if a stored key has a part that stands for a secret.
    static func isPart(ofStored key: String) -> Bool { !ends(of: storedMarker, in: Array(key.utf8)).isEmpty }

    /// Returns the offsets behind each occurrence of a marker with its digits, up to the end of a line.
    private static func ends(of marker: [UInt8], in key: [UInt8]) -> [Int] {
        key.indices.compactMap { start in
            let digits = start + marker.count
            let end = digits + digitCount
            guard key[start] == marker[0], end <= key.count, key[start..<digits].elementsEqual(marker),
                key[digits..<end].allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
                end == key.count || key[end] == marker[0]
            else { return nil }
            return end
        }
    }
}

extension DirectoryKey {
    /// Returns the form of a key in which an entry is searched.
    package func keyForReading(_ key: String) -> String {
        (try? SecretKeyPart.stored(key) { () throws(EideticError) in forReading() }) ?? key
    }

    /// Returns the form of a key in which an entry is written; creates the directory's key if that is needed.
    func keyForWriting(_ key: String) throws(EideticError) -> String {
        try SecretKeyPart.stored(key) { () throws(EideticError) in
            do throws(SystemError) { return try forWriting() } catch { throw EideticError(error) }
        }
    }
}

extension DiskCache.EntryInfo {
    /// A Boolean value indicating whether the entry belongs to a request with header fields or credentials.
    ///
    /// Its key can be used in its directory only.
    package var isPrivate: Bool { SecretKeyPart.isPart(ofStored: key) }
}
