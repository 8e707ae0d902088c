package import EideticCore
import Glibc

/// Files of the kernel (`/proc`, control groups): short, and read or written in one call.
package enum KernelFile {
    /// Returns the text of a file of at most `limit` bytes; `nil` if it cannot be read.
    package static func read(_ path: String, limit: Int = 1 << 20) -> String? {
        guard let file = try? FileSystem().open(path, flags: O_RDONLY | O_NOFOLLOW) else { return nil }
        return bytes(of: file.rawValue, limit: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the bytes of an open file of at most `limit` bytes; `nil` if it cannot be read.
    static func bytes(of number: Int32, limit: Int) -> [UInt8]? {
        var text: [UInt8] = []
        while text.count < limit {
            var count = 0
            text += [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, initialized in
                count = Glibc.read(number, buffer.baseAddress, buffer.count)
                initialized = max(0, count)
            }
            if count < 0 { return nil }
            if count == 0 { break }
        }
        return text
    }

    /// Writes a text in one call.
    package static func write(_ text: String, to path: String) throws(SystemError) {
        let file = try FileSystem().open(path, flags: O_WRONLY | O_NOFOLLOW)
        let count = text.withCString { Glibc.write(file.rawValue, $0, strlen($0)) }
        guard count == text.utf8.count else {
            throw SystemError(.write, errorNumber: count < 0 ? errno : EIO, path: path)
        }
    }

    /// Returns at most `limit` names in a directory; an empty list if it cannot be read.
    package static func names(in path: String, limit: Int = .max) -> [String] {
        (try? FileSystem().entryNames(in: path, limit: limit)) ?? []
    }
}
