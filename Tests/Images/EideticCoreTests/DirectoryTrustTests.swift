import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// Directories of other users are made by changing owners, which only root may do.
@Suite("Trust in directories")
struct DirectoryTrustTests {
    private static let isRoot = geteuid() == 0

    private let directory: TemporaryDirectory
    private let user: UInt32 = isRoot ? 54_321 : geteuid()

    init() throws {
        directory = try TemporaryDirectory(named: "trust")
        for path in ["a", "a/b", "a/b/c"] { try make(path) }
        if Self.isRoot { chown(directory.path, user, user) }
    }

    /// Creates a directory with a mode, and the owner and group that the test runs for by default.
    private func make(_ path: String, mode: UInt32 = 0o700, owner: UInt32? = nil, group: UInt32? = nil) throws {
        let path = directory.path(of: path)
        if (try? FileSystem().linkStatus(of: path)) == nil { try FileSystem().makeDirectory(path) }
        if Self.isRoot { chown(path, owner ?? user, group ?? owner ?? user) }
        chmod(path, mode)
    }

    /// Creates a link of the user that the test runs for.
    private func link(_ path: String, to target: String) throws {
        try #require(symlink(target, directory.path(of: path)) == 0)
        if Self.isRoot { lchown(directory.path(of: path), user, user) }
    }

    private func violation(in path: String, isReadOnly: Bool = false) throws -> String? {
        let trust = DirectoryTrust(files: FileSystem(), isReadOnly: isReadOnly, user: user)
        return try trust.violation(in: directory.path(of: path))?.path
    }

    @Test("C18 a path of private directories is trusted, also with a part that does not exist yet")
    func trusted() throws {
        #expect(try violation(in: "a/b/c") == nil)
        #expect(try violation(in: "a/b/c/d/e") == nil)
        #expect(try violation(in: "a/./b//../b/c/") == nil)
        try make("a", mode: 0o755)
        #expect(try violation(in: "a/b/c") == nil)
    }

    @Test(
        "C18 a directory that others may write to is not trusted, at the end or above",
        arguments: ["a", "a/b", "a/b/c"],
        [0o702, 0o722, 0o777] as [UInt32]
    )
    func writable(_ path: String, mode: UInt32) throws {
        try make(path, mode: mode)
        #expect(try violation(in: "a/b/c") == directory.path(of: path))
        try make(path, mode: mode & 0o755)
        #expect(try violation(in: "a/b/c") == nil)
    }

    @Test("C18 a directory before a name that begins with a combining mark is looked at, too")
    func combiningMark() throws {
        try make("a/\u{301}m")
        #expect(try violation(in: "a/\u{301}m") == nil)
        try make("a", mode: 0o777)
        #expect(try violation(in: "a/\u{301}m") == directory.path(of: "a"))
        #expect(try violation(in: "a/b/../\u{301}m") == directory.path(of: "a"))
    }

    @Test("C18 what is below a sticky directory is trusted, the sticky directory itself is not")
    func sticky() throws {
        try make("a/b", mode: 0o1777)
        #expect(try violation(in: "a/b/c") == nil)
        #expect(try violation(in: "a/b") == directory.path(of: "a/b"))
    }

    @Test("C18 a link of one's own is followed, and what it leads to is checked")
    func links() throws {
        try link("a/link", to: "b/c")
        #expect(try violation(in: "a/link") == nil)
        try make("a/b/c", mode: 0o777)
        #expect(try violation(in: "a/link") == directory.path(of: "a/b/c"))
        try link("a/loop", to: directory.path(of: "a/loop"))
        #expect(throws: SystemError.self) { try violation(in: "a/loop") }
    }

    @Test("C18 40 links are followed, a further one is an error", arguments: [39, 40, 41])
    func linkCount(_ count: Int) throws {
        for number in 1...count { try link("a/\(number)", to: number == 1 ? "b/c" : "\(number - 1)") }
        if count <= 40 {
            #expect(try violation(in: "a/\(count)") == nil)
        } else {
            let path = directory.path(of: "a/\(count)")
            #expect(throws: SystemError(.readlink, errorNumber: ELOOP, path: path)) { try violation(in: "a/\(count)") }
        }
    }

    @Test(
        "C18 directories and links of other users are not trusted",
        .enabled(if: isRoot, "needs root to change owners")
    )
    func foreign() throws {
        for path in ["a", "a/b", "a/b/c"] {
            try make(path, mode: 0o755, owner: 54_322)
            #expect(try violation(in: "a/b/c") == directory.path(of: path))
            try make(path)
        }
        // Root is trusted above, and at the end only to read: its users could not write there.
        try make("a/b", mode: 0o755, owner: 0)
        #expect(try violation(in: "a/b/c") == nil)
        #expect(try violation(in: "a/b") == directory.path(of: "a/b"))
        #expect(try violation(in: "a/b", isReadOnly: true) == nil)
        symlink("b/c", directory.path(of: "a/link"))
        lchown(directory.path(of: "a/link"), 54_322, 54_322)
        #expect(try violation(in: "a/link") == directory.path(of: "a/link"))
    }

    @Test("C18 root does not use a user's directory", .enabled(if: isRoot, "needs root to change owners"))
    func rootInUsersDirectory() throws {
        let trust = DirectoryTrust(files: FileSystem())
        #expect(try trust.violation(in: directory.path(of: "a/b/c"))?.path == directory.path)
    }

    @Test("C18 a group may write only if it is its owner's own", .enabled(if: isRoot, "needs root to change owners"))
    func groups() throws {
        try make("a/b", mode: 0o775, group: user)
        #expect(try violation(in: "a/b/c") == nil)
        try make("a/b", mode: 0o775, group: 100)
        #expect(try violation(in: "a/b/c") == directory.path(of: "a/b"))
    }
}
