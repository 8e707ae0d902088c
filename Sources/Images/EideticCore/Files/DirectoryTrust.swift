import Glibc

/// A check that nobody but the effective user and root can change where a directory's path leads.
///
/// Each directory on the path must belong to one of them, and not be writable by others, unless its sticky bit protects
/// what is in it. So must each symbolic link on the path. A directory that its owner's private group may write to is
/// accepted: it has the number of the owner, as on systems where users have a umask of 002. The directory itself must
/// belong to the effective user. Access control lists beyond the mode are not checked.
package struct DirectoryTrust: Sendable {
    /// The reason that a directory, or a file in it, is not trusted.
    package struct Violation: Error, Sendable, Hashable, CustomStringConvertible {
        package let path: String
        /// The fault and its remedy.
        package let reason: String

        package init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }

        package var description: String { "\(path) \(reason)" }
    }

    private static let maximumLinks = 40

    private let files: FileSystem
    private let user: UInt32
    /// The number that stands for owners from outside a user namespace, such as root outside of a sandbox.
    private let outsideOwner: UInt32?
    /// A Boolean value indicating whether root may own the directory itself, which is then only read.
    private let allowsForeignOwner: Bool

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - files: The file system.
    ///   - isReadOnly: A Boolean value indicating whether the directory is only read, and may belong to root.
    package init(files: FileSystem, isReadOnly: Bool = false) {
        self.init(files: files, isReadOnly: isReadOnly, user: geteuid())
    }

    package init(files: FileSystem, isReadOnly: Bool, user: UInt32) {
        self.files = files
        self.user = user
        allowsForeignOwner = isReadOnly
        outsideOwner = Self.isInitialUserNamespace ? nil : 65_534
    }

    /// Returns the first violation on the path, or `nil`; a part that does not exist is not one.
    ///
    /// - Complexity: one system call for each component of the path.
    package func violation(in path: String) throws(SystemError) -> Violation? {
        var remaining = Self.components(of: path)
        var current = ""
        var linkCount = 0
        if let violation = violation(in: try files.linkStatus(of: "/"), at: "/", isLast: false) { return violation }
        while let name = remaining.popLast() {
            if name == ".." {
                let slash = current.utf8.lastIndex(of: UInt8(ascii: "/"))
                current = String(current.prefix(upTo: slash ?? current.startIndex))
                continue
            }
            let next = "\(current)/\(name)"
            guard let status = try existingStatus(of: next) else { return nil }
            if let violation = violation(in: status, at: next, isLast: false) { return violation }
            guard status.kind == .symbolicLink else {
                current = next
                continue
            }
            linkCount += 1
            guard linkCount <= Self.maximumLinks else { throw SystemError(.readlink, errorNumber: ELOOP, path: path) }
            let target = try files.linkTarget(of: next)
            if target.utf8.first == UInt8(ascii: "/") { current = "" }
            remaining += Self.components(of: target)
        }
        let path = current.isEmpty ? "/" : current
        return violation(in: try files.linkStatus(of: path), at: path, isLast: true)
    }

    /// Returns the components of a path, the last one first; a mark that combines with a slash hides none.
    private static func components(of path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).reversed().map { String(Substring($0)) }.filter { $0 != "." }
    }

    private func existingStatus(of path: String) throws(SystemError) -> FileStatus? {
        do throws(SystemError) {
            return try files.linkStatus(of: path)
        } catch {
            guard error.errorNumber == ENOENT else { throw error }
            return nil
        }
    }

    private func violation(in status: FileStatus, at path: String, isLast: Bool) -> Violation? {
        guard isTrusted(status.owner, isLast: isLast) else {
            let fault = "belongs to user \(status.owner), not to user \(user)"
            return Violation(path: path, reason: "\(fault): choose another directory, or change the owner")
        }
        // The mode of a link means nothing.
        guard status.kind == .directory, isWritableByOthers(status), isLast || status.permissions & 0o1000 == 0 else {
            return nil
        }
        let mode = String(status.permissions, radix: 8)
        return Violation(path: path, reason: "may be written to by others (mode \(mode)): chmod go-w \(path)")
    }

    private func isTrusted(_ owner: UInt32, isLast: Bool) -> Bool {
        if owner == user { return true }
        guard !isLast || allowsForeignOwner else { return false }
        return owner == 0 || owner == outsideOwner
    }

    private func isWritableByOthers(_ status: FileStatus) -> Bool {
        if status.permissions & 0o002 != 0 { return true }
        return status.permissions & 0o020 != 0 && status.group != status.owner
    }

    private static let isInitialUserNamespace: Bool = {
        guard let bytes = try? FileSystem().contents(of: "/proc/self/uid_map", limit: 4_096) else { return true }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace) == ["0", "0", "4294967295"]
    }()
}
