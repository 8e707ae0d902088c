package import EideticCore
import EideticSupervision
import Glibc

/// The files of a supervisor that outlive its process, in a directory of one user (mode 0700).
package struct RuntimeDirectory: Sendable {
    package let path: String
    private let files = FileSystem()

    /// Creates the directory; throws if it belongs to another user, or if its path is too long for its sockets.
    package init(path: String) throws(SystemError) {
        let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        guard "\(path)/\(SupervisionProtocol.socketName)".utf8.count < capacity else {
            throw SystemError(.bind, errorNumber: ENAMETOOLONG, path: path)
        }
        try FileSystem().makeDirectories(path, mode: 0o700)
        try self.init(existing: path)
        try files.makeDirectories(applicationsPath, mode: 0o700)
    }

    /// Opens the directory of an earlier supervisor; throws if it belongs to another user.
    package init(existing path: String) throws(SystemError) {
        self.path = path
        var status = stat()
        guard lstat(path, &status) == 0 else { throw SystemError(.lstat, errorNumber: errno, path: path) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(.lstat, errorNumber: ENOTDIR, path: path) }
        guard status.st_uid == geteuid() else {
            let fault = "belongs to user \(status.st_uid), not to user \(geteuid())"
            let violation = DirectoryTrust.Violation(path: path, reason: "\(fault): choose another directory")
            throw SystemError(.lstat, errorNumber: EPERM, path: path, violation: violation)
        }
        if status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 {
            throw SystemError(.chmod, errorNumber: errno, path: path)
        }
    }

    /// The socket of applications that do not inherit one.
    package var supervisorSocket: String { "\(path)/\(SupervisionProtocol.socketName)" }
    /// The socket of `eidetic app`.
    package var controlSocket: String { "\(path)/\(SupervisionProtocol.controlSocketName)" }
    var applicationsPath: String { "\(path)/applications" }
    var logPath: String { "\(path)/log" }
    private var generationPath: String { "\(path)/generation" }

    func directory(of identifier: String) -> String { "\(applicationsPath)/\(identifier)" }
    func snapshotPath(of identifier: String) -> String { "\(directory(of: identifier))/snapshot.png" }
    func recordPath(of identifier: String) -> String { "\(directory(of: identifier))/record" }

    /// Makes sure that no other supervisor uses the directory; the lock ends with the returned descriptor.
    func lock() throws(SystemError) -> FileDescriptor {
        let file = try files.open("\(path)/lock", flags: O_RDWR | O_CREAT | O_NOFOLLOW)
        // A lock of the process: one of the open file would be held by a child that is just being born, too.
        guard lockf(file.rawValue, F_TLOCK, 0) == 0 else {
            throw SystemError(.flock, errorNumber: EWOULDBLOCK, path: "\(path)/lock")
        }
        return file
    }

    /// Returns a number that no earlier supervisor had.
    func takeGeneration() throws(SystemError) -> UInt32 {
        let text = contents(of: generationPath, limit: 32).map { String(decoding: $0, as: UTF8.self) }
        let generation = (text.flatMap { UInt32($0) } ?? 0) &+ 1
        try replace(generationPath, with: Array("\(generation)".utf8))
        return generation
    }

    /// Replaces a file in one step.
    func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        try files.replaceContents(of: path, with: bytes, mode: 0o600)
    }

    /// The greatest size of a record, above that of one with 64 URLs of 32 KiB, 128 wakes and a program.
    package static let recordLimit = 4 << 20

    /// Reads a regular file; another kind, such as a FIFO, would block or has no end.
    package func contents(of path: String, limit: Int = recordLimit) -> [UInt8]? {
        guard let file = try? files.open(path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let status = try? files.status(of: file), status.kind == .regular, status.size <= limit
        else { return nil }
        return KernelFile.bytes(of: file.rawValue, limit: limit)
    }

    func makeDirectory(of identifier: String) throws(SystemError) {
        try files.makeDirectories(directory(of: identifier), mode: 0o700)
    }

    /// Removes the directory of an application with its record and its pages.
    func removeDirectory(of identifier: String) {
        let path = directory(of: identifier)
        for name in KernelFile.names(in: path) { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    var identifiers: [String] {
        KernelFile.names(in: applicationsPath).filter(ApplicationIdentifier.isValid).sorted()
    }
}

/// The rules for identifiers of applications, which are names of files too.
package enum ApplicationIdentifier {
    /// Returns whether the text is an identifier: letters, digits, dots, hyphens and underscores, at most 128, not
    /// beginning with a dot.
    package static func isValid(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && !text.hasPrefix(".")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
