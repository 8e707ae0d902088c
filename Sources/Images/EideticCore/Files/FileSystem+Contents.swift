import Glibc

extension FileSystem {
    /// Creates a directory and its missing parents, as `mkdir -p` does.
    package func makeDirectories(_ path: String, mode: UInt32 = 0o700) throws(SystemError) {
        // A loop, because whoever gives the path decides its depth; and some file systems deny that an entry exists
        // below a directory that does.
        var missing: [String] = []
        var current = path
        while try !makeOrFindDirectory(current, mode: mode) {
            guard let slash = current.lastSlash, slash > current.startIndex else {
                throw SystemError(.mkdir, errorNumber: ENOENT, path: path)
            }
            missing.append(current)
            current = String(current[..<slash])
        }
        for directory in missing.reversed() {
            guard try makeOrFindDirectory(directory, mode: mode) else {
                throw SystemError(.mkdir, errorNumber: ENOENT, path: directory)
            }
        }
    }

    /// Returns whether the directory exists now; `false` if the system misses a part of its path.
    private func makeOrFindDirectory(_ path: String, mode: UInt32) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try makeDirectory(path, mode: mode)
        } catch  where error.errorNumber == ENOENT {
            return false
        } catch  where error.errorNumber == EEXIST {
            guard try status(of: path).kind == .directory else {
                throw SystemError(.mkdir, errorNumber: ENOTDIR, path: path)
            }
        }
        return true
    }

    /// Returns at most `limit` names in a directory without "." and "..", in no particular order.
    package func entryNames(in path: String, limit: Int = .max) throws(SystemError) -> [String] {
        if let observer, let number = observer.willPerform(.readdir, path: path) {
            throw SystemError(.readdir, errorNumber: number, path: path)
        }
        guard let directory = opendir(path) else { throw SystemError(.readdir, errorNumber: errno, path: path) }
        defer { closedir(directory) }
        var names: [String] = []
        while names.count < limit, let entry = Glibc.readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Returns the contents of a regular file; fails with `EFBIG` if it is larger than `limit` bytes.
    ///
    /// A pipe of that name, which would keep the thread waiting, fails with `EINVAL`, as a device does.
    package func contents(of path: String, limit: Int = .max) throws(SystemError) -> [UInt8] {
        do throws(SystemError) {
            let file = try open(path, flags: O_RDONLY | O_NONBLOCK)
            let status = try status(of: file)
            guard status.kind == .regular || status.kind == .directory else {
                throw SystemError(.open, errorNumber: EINVAL)
            }
            return try contents(of: file, size: status.size, limit: limit)
        } catch {
            throw SystemError(error.call, errorNumber: error.errorNumber, path: path)
        }
    }

    /// Returns the remaining contents of an open file; fails with `EFBIG` if they are larger than `limit` bytes.
    package func contents(of file: borrowing FileDescriptor, limit: Int = .max) throws(SystemError) -> [UInt8] {
        try contents(of: file, size: try status(of: file).size, limit: limit)
    }

    private func contents(
        of file: borrowing FileDescriptor,
        size: Int,
        limit: Int
    ) throws(SystemError) -> [UInt8] {
        guard size <= limit else { throw SystemError(.read, errorNumber: EFBIG) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: max(4_096, min(size + 1, 1 << 20)))
        bytes.reserveCapacity(size)
        while true {
            let count = try read(file, into: &chunk)
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limit else { throw SystemError(.read, errorNumber: EFBIG) }
        }
    }
}
