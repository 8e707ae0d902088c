import EideticCore
import EideticDiskWorker
import EideticStore
import EideticTestSupport
import Glibc
import Testing

/// Tests without permissions.
///
/// They may run as root, which has all of them, so a second process gives up its rights.
@Suite("Disk cache: permissions", .timeLimit(.minutes(1)))
struct DiskPermissionTests {
    private static let isPossible = geteuid() != 0 || Subprocess.executablePath(for: "setpriv") != nil

    private let directory: TemporaryDirectory
    private let cache: DiskCache

    init() throws {
        directory = try TemporaryDirectory(named: "permissions")
        chmod(directory.path, 0o755)
        cache = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        try cache.blocking.insert([1, 2, 3], for: "a")
        // The worker's user may not enter the build directory.
        let program = try FileSystem().contents(of: DiskWorker.path)
        chmod(try directory.write(program, to: "worker"), 0o755)
    }

    /// Runs the worker as the user nobody, and returns the outcome of each of its steps.
    private func runWorker() async throws -> [String: String] {
        var program = [directory.path(of: "worker"), "look", directory.path(of: "cache")]
        if geteuid() == 0 {
            program = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] + program
        }
        let result = try await Subprocess.run(program[0], arguments: Array(program.dropFirst()))
        #expect(result.status == .exited(0), "\(result.errorText)")
        return result.outputText.split(separator: "\n").reduce(into: [:]) { answers, line in
            let parts = line.split(separator: "=", maxSplits: 1)
            answers[String(parts[0])] = String(parts[1])
        }
    }

    private func transferOwnership(of path: String) throws {
        if geteuid() == 0 { chown(path, 65_534, 65_534) }
        guard try FileSystem().linkStatus(of: path).kind == .directory else { return }
        for name in try FileSystem().entryNames(in: path) { try transferOwnership(of: "\(path)/\(name)") }
    }

    @Test("C18 a user with rights reads, writes and removes", .enabled(if: isPossible, "setpriv is not installed"))
    func allowed() async throws {
        try transferOwnership(of: directory.path(of: "cache"))
        let answers = try await runWorker()
        #expect(answers["open-read"] == "3")
        #expect(answers["open-write"] == "done")
        #expect(answers["open-remove"]?.contains("file:///") == true)
        #expect(answers["look-write"] == "permissionDenied")
    }

    @Test(
        "C06 C18 opening a directory without permission to enter it is a typed error",
        .enabled(if: isPossible, "setpriv is not installed")
    )
    func unreadable() async throws {
        try transferOwnership(of: directory.path(of: "cache"))
        chmod(directory.path(of: "cache"), 0)
        let answers = try await runWorker()
        #expect(answers == ["open": "permissionDenied", "look": "permissionDenied"])
    }

    @Test(
        "C05 C18 a directory without permission to write can be opened as read-only",
        .enabled(if: isPossible, "setpriv is not installed")
    )
    func unwritable() async throws {
        try transferOwnership(of: directory.path(of: "cache"))
        chmod(directory.path(of: "cache"), 0o555)
        let answers = try await runWorker()
        #expect(answers["open"] == "permissionDenied")
        #expect(answers["look-read"] == "3")
        #expect(answers["look-write"] == "permissionDenied")
        #expect(answers["look-remove"] == "permissionDenied")
    }

    @Test(
        "C18 an entry or a shard without permission to read is a typed error, not a miss, and is not removed",
        .enabled(if: isPossible, "setpriv is not installed"),
        arguments: [false, true]
    )
    func unreadableEntry(_ isFolder: Bool) async throws {
        try transferOwnership(of: directory.path(of: "cache"))
        let file = cache.path(for: "a")
        let path = isFolder ? String(file.dropLast(33)) : file
        chmod(path, 0)
        let answers = try await runWorker()
        #expect(answers["open-read"] == "permissionDenied")
        // The worker has removed the entry meanwhile, as the owner of the directory may.
        #expect(answers["look-read"] == (isFolder ? "permissionDenied" : "-1"))
        chmod(path, isFolder ? 0o700 : 0o600)
        if isFolder { #expect(try cache.blocking.read("a")?.bytes == [1, 2, 3]) }
    }
}
