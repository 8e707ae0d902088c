import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// One line of `eidetic transfer list --json`.
private struct ListLine: Decodable {
    let id: Int
    let session: String
    let state: String
    let kind: String
    let url: String
    let bytes: Int
    let reasons: [String]
    let why: String?
    let file: String?
}

/// One line of `eidetic transfer watch --json`.
private struct WatchLine: Decodable {
    let event: String
    let id: Int
    let status: Int?
    let bytes: Int?
    let file: String?
    let error: String?
}

@Suite("eidetic transfer", .serialized, .timeLimit(.minutes(2)))
struct TransferTests {
    private let directory: TemporaryDirectory
    private let environment: [String: String?]

    init() throws {
        directory = try TemporaryDirectory(named: "transfer")
        let tests = EideticProgram.path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        try FileSystem().makeDirectory(directory.path(of: "bin"))
        try FileSystem().makeDirectory(directory.path(of: "files"))
        #expect(symlink("\(tests)/eidetic-transferd", directory.path(of: "bin/eidetic-transferd")) == 0)
        environment = [
            "PATH": directory.path(of: "bin"), "XDG_RUNTIME_DIR": directory.path,
            "XDG_STATE_HOME": directory.path(of: "state"),
        ]
    }

    private func run(_ words: String...) async throws -> Subprocess.Result {
        try await Subprocess.run(
            EideticProgram.path,
            arguments: ["transfer"] + words,
            environment: environment,
            directory: directory.path(of: "files")
        )
    }

    /// Lists transfers with a copy of the program that has no other programs beside it or in `PATH`.
    private func listWithoutService() async throws -> Subprocess.Result {
        let copy = try directory.write(FileSystem().contents(of: EideticProgram.path), to: "alone/eidetic")
        #expect(chmod(copy, 0o700) == 0)
        var environment = environment
        environment["PATH"] = "/nonexistent"
        return try await Subprocess.run(copy, arguments: ["transfer", "list"], environment: environment)
    }

    @Test("B14 add prints a number, watch moves the file to its place, and the list is empty after it")
    func downloads() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, body: Array("contents".utf8))] }
        let added = try await run("add", "\(origin.url)/books/a.txt?x=1", "\(origin.url)/books/b.txt")
        #expect(added.status == .exited(0), "\(added.errorText)")
        #expect(added.outputText.hasPrefix("1: \(origin.url)/books/a.txt?x=1 → "))
        let watched = try await run("watch", "--json")
        #expect(watched.status == .exited(0), "\(watched.outputText) \(watched.errorText)")
        let ends = try watched.lines(WatchLine.self).filter { $0.event == "end" }
        #expect(ends.map(\.status) == [200, 200])
        for name in ["a.txt", "b.txt"] {
            #expect(try FileSystem().contents(of: directory.path(of: "files/\(name)")) == Array("contents".utf8))
        }
        #expect(try await run("list", "--json").outputText.isEmpty)
    }

    @Test("B14 without --output a file has the name in the path, at most 200 characters of it", arguments: 199...201)
    func names(length: Int) async throws {
        let origin = try ScriptedOrigin { _ in [.response(200)] }, name = String(repeating: "n", count: length)
        #expect(try await run("add", "\(origin.url)/books/\(name)?x=1").status == .exited(0))
        #expect(try await run("watch").status == .exited(0))
        #expect(try FileSystem().entryNames(in: directory.path(of: "files")) == [String(name.prefix(200))])
    }

    @Test("B14 watch does not fail if a transfer ends before it, or while it starts", arguments: 0..<6)
    func quickEnds(round: Int) async throws {
        let origin = try ScriptedOrigin { _ in [.response(404)] }
        #expect(try await run("add", "--output", "x", "\(origin.url)/\(round)").status == .exited(0))
        if round % 2 == 0 { await origin.waitForRequests(count: 1) }
        let watched = try await run("watch", "1")
        #expect(watched.status == .exited(0), "\(watched.errorText)")
        #expect(watched.outputText.contains("1: \(origin.url)/\(round): 404"))
        #expect(try await run("watch").status == .exited(0))
    }

    @Test("B14 list names the state of each transfer, and the reason for which it waits")
    func lists() async throws {
        let never = Gate()
        let origin = try ScriptedOrigin { _ in [.head(200, headers: ["Content-Length": "9"]), .wait(never)] }
        for number in 0..<8 { _ = try await run("add", "\(origin.url)/\(number)") }
        await origin.waitForRequests(count: 6)
        let lines = try await run("list", "--json").lines(ListLine.self)
        #expect(lines.map(\.id) == Array(1...8))
        #expect(lines.filter { $0.state == "running" }.count == 6)
        let waiting = lines.filter { $0.state == "waiting" }
        #expect(waiting.count == 2)
        #expect(waiting.allSatisfy { $0.reasons == ["hostLimit"] && $0.why?.isEmpty == false })
        #expect(try await run("pause", "1").status == .exited(0))
        let text = try await run("list").outputText
        #expect(text.contains("paused; \"eidetic transfer resume 1\" resumes it"))
        #expect(try await run("resume", "1").status == .exited(0))
        #expect(try await run("cancel", "1", "2", "3", "4", "5", "6", "7", "8").status == .exited(0))
        let watched = try await run("watch")
        #expect(watched.status == .exited(1))
        #expect(watched.errorText.contains("cancelled"))
    }

    @Test("B14 --upload sends a file, and list tells that its answer waits")
    func uploads() async throws {
        let origin = try ScriptedOrigin { _ in [.response(201)] }
        let path = directory.path(of: "files/upload")
        try FileSystem().replaceContents(of: path, with: [])
        #expect(
            try await run("add", "--upload", "upload", "\(origin.url)/put", "--header", "X-A: 1").status == .exited(0)
        )
        try await eventually("the list tells that the answer waits") {
            try await run("list").outputText.contains("(its answer waits for \"eidetic transfer watch\")")
        }
        #expect(try await run("watch").outputText.contains(": 201"))
        #expect(origin.requests.first?.method == "PUT")
        #expect(origin.requests.first?.headers["x-a"] == "1")
    }

    @Test("B14 errors: an unknown number, a missing file, a wrong URL or directory, and a missing program")
    func errors() async throws {
        let unknown = try await run("cancel", "17", "x")
        #expect(unknown.status == .exited(1))
        #expect(unknown.errorText.contains("no transfer 17") && unknown.errorText.contains("no transfer x"))
        let missing = try await run("add", "--upload", "nothing", "http://localhost/a")
        #expect(missing.status == .exited(1) && missing.errorText.contains("No such file"))
        #expect(try await run("add", "ftp://localhost/a").errorText.contains("scheme"))
        #expect(try await run("add", "--output", "no/such/file", "http://localhost/a").errorText.contains("no/such"))
        #expect(try await run("watch", "99").status == .exited(1))
        try directory.write([1], to: "files/there")
        let there = try await run("add", "http://localhost/there")
        #expect(
            there.status == .exited(1) && there.errorText.contains("there: the file exists; --overwrite replaces it")
        )
        let twice = try await run("add", "http://127.0.0.1:1/a/same", "http://127.0.0.1:1/b/same")
        #expect(twice.status == .exited(1) && twice.errorText.contains("same is the place of another download"))
        #expect(try await run("add").status == .exited(2))
        for process in processes { kill(process, SIGKILL) }
        let uninstalled = try await listWithoutService()
        #expect(uninstalled.status == .exited(1) && uninstalled.errorText.contains("not installed"))
    }

    @Test("B14 list tells of damaged records of the journal until their file is removed; other transfers are there")
    func damagedJournal() async throws {
        // Its transfers wait for longer than the test lasts.
        defer { for process in processes { kill(process, SIGKILL) } }
        for name in ["a", "b", "c"] {
            let added = try await run("add", "--begin-after", "1000", "http://127.0.0.1:1/\(name)")
            #expect(added.status == .exited(0) && !added.errorText.contains("damaged"), "\(added.errorText)")
        }
        for process in processes { kill(process, SIGKILL) }
        try await eventually("the end of the process") { processes.isEmpty }
        let journal = directory.path(of: "state/eidetic/transfers/journal")
        var bytes = try FileSystem().contents(of: journal)
        let url = try #require(bytes.ranges(of: Array("http://127.0.0.1:1/b".utf8)).first)
        bytes[url.lowerBound] ^= 0xff
        try directory.write(bytes, to: "state/eidetic/transfers/journal")
        let listed = try await run("list", "--json")
        #expect(listed.status == .exited(0) && listed.errorText.contains("\(journal).damaged: damaged records"))
        #expect(try listed.lines(ListLine.self).map(\.url) == ["http://127.0.0.1:1/a", "http://127.0.0.1:1/c"])
        #expect(unlink("\(journal).damaged") == 0)
        #expect(try await run("list").errorText.isEmpty)
    }

    /// The transfer processes of this directory that run.
    private var processes: [Int32] {
        let files = FileSystem()
        return ((try? files.entryNames(in: "/proc")) ?? []).compactMap(Int32.init).filter { process in
            let line = (try? files.contents(of: "/proc/\(process)/cmdline", limit: 65_536)) ?? []
            return line.split(separator: 0).contains {
                $0.elementsEqual(directory.path(of: "state/eidetic/transfers").utf8)
            }
        }
    }
}
