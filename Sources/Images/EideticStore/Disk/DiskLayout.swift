import EideticCore
import Glibc

/// The paths of the files in a cache's directory.
///
/// An entry is at `DIRECTORY/ab/ab…`: the 32 hexadecimal digits of its key's hash, in the directory of a shard that is
/// named after the first two. The path is a pure function of the key, and the 256 shards stay small up to millions of
/// entries.
struct DiskLayout: Sendable {
    static let shards = 0..<256

    let directory: String
    /// A Boolean value indicating whether the directory is not used if other users could change it.
    let requiresPrivateDirectory: Bool

    init(_ configuration: DiskCache.Configuration) {
        directory = configuration.directory
        requiresPrivateDirectory = configuration.requiresPrivateDirectory
    }

    /// Returns the absolute path of a directory, which is relative to the working directory otherwise.
    static func absolutePath(of directory: String) -> String {
        guard !directory.hasPrefix("/"), let current = getcwd(nil, 0) else { return directory }
        defer { free(current) }
        return "\(String(cString: current))/\(directory)"
    }

    var lockPath: String { "\(directory)/lock" }
    var ledgerPath: String { "\(directory)/ledger" }
    var tagPath: String { "\(directory)/CACHEDIR.TAG" }

    /// Returns the directory of the entries whose hash begins with this byte.
    func shardPath(_ number: Int) -> String { "\(directory)/\(Self.hexadecimal(UInt8(truncatingIfNeeded: number)))" }

    func shardPath(of key: CacheKey) -> String { shardPath(key.shard) }

    func path(of key: CacheKey) -> String {
        var directory = directory
        return directory.withUTF8 { directory in
            String(unsafeUninitializedCapacity: directory.count + 36) { buffer in
                _ = buffer.update(fromContentsOf: directory)
                Self.appendName(key, to: buffer, at: directory.count)
                return directory.count + 36
            }
        }
    }

    /// Returns the path at which an entry is written before it is renamed, in the same directory.
    func temporaryPath(of key: CacheKey, writer: UInt64) -> String {
        "\(shardPath(of: key))/.\(String(writer, radix: 16)).tmp"
    }

    /// Returns the keys of the entries in a shard's directory, by the names of their files.
    func keys(inShard number: Int, files: FileSystem) throws(SystemError) -> [CacheKey] {
        try files.existingNames(in: shardPath(number)).compactMap(Self.key(named:)).filter { $0.shard == number }
    }

    /// Returns the key hash that a file name encodes, or `nil` for other names.
    static func key(named name: String) -> CacheKey? {
        guard name.utf8.count == 32, let high = UInt64(name.prefix(16), radix: 16),
            let low = UInt64(name.suffix(16), radix: 16), name == CacheKey(high: high, low: low).hexadecimal
        else { return nil }
        return CacheKey(high: high, low: low)
    }

    /// Returns the writer that the name of a temporary file encodes, or `nil` for other names.
    static func writer(named name: String) -> UInt64? {
        guard name.hasPrefix("."), name.hasSuffix(".tmp") else { return nil }
        return UInt64(name.dropFirst().dropLast(4), radix: 16)
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0\(digits)" : digits
    }

    private static func appendName(_ key: CacheKey, to buffer: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        buffer[start] = UInt8(ascii: "/")
        buffer[start + 3] = UInt8(ascii: "/")
        for index in 0..<32 {
            let word = index < 16 ? key.high : key.low
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (index % 16))) & 15
            let character = digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a")
            buffer[start + 4 + index] = character
            if index < 2 { buffer[start + 1 + index] = character }
        }
    }
}

extension CacheKey {
    /// The number of the shard that contains the entry.
    var shard: Int { Int(high >> 56) }
}

extension FileSystem {
    /// Returns the names in a directory, or none if the directory does not exist.
    func existingNames(in directory: String) throws(SystemError) -> [String] {
        do throws(SystemError) {
            return try entryNames(in: directory)
        } catch {
            guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw error }
            return []
        }
    }
}
