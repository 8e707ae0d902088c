package import EideticCore
import Glibc

extension FileSystem {
    /// Makes the names in the directory of a file safe after a loss of power.
    package func synchronizeDirectory(of path: String) throws(SystemError) {
        let directory = path.parentPath.map { "\($0)/" } ?? "."
        try synchronize(open(directory, flags: O_RDONLY | O_DIRECTORY))
    }

    /// Removes a file if it exists.
    package func removeIfPresent(_ path: String) { try? unlink(path) }
}

extension FileSystem {
    package func write(_ bytes: [UInt8], to file: borrowing FileDescriptor, at offset: Int) throws(SystemError) {
        try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
            try write(UnsafeRawBufferPointer(buffer), to: file, at: offset)
        }
    }

    /// Reads up to `count` bytes at an offset; fewer at the end of the file.
    package func bytes(of file: borrowing FileDescriptor, at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let readCount = try bytes.withUnsafeMutableBufferPointer { buffer throws(SystemError) in
                let rest = UnsafeMutableRawBufferPointer(buffer)[filled...]
                return try read(file, at: offset + filled, into: UnsafeMutableRawBufferPointer(rebasing: rest))
            }
            guard readCount > 0 else { break }
            filled += readCount
        }
        bytes.removeLast(count - filled)
        return bytes
    }
}
