import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import Testing

@Suite("Supervised applications", .timeLimit(.minutes(1)))
struct AppTests {
    @Test("B08 without a supervisor, each command says how to start one")
    func noSupervisor() async throws {
        let directory = try TemporaryDirectory()
        for words in [["list"], ["foreground", "x"], ["quit", "--force", "x"], ["why", "x"], ["log"]] {
            let arguments = ["app", words[0], "--runtime-dir", directory.path] + words.dropFirst()
            let result = try await Subprocess.run(EideticProgram.path, arguments: arguments)
            #expect(result.status == .exited(1))
            #expect(result.errorText.contains("no supervisor runs") && result.errorText.contains("eideticd"))
        }
    }

    @Test("B08 the process of `eidetic app` maps no library of a codec, and none for the network")
    func mappedLibraries() async throws {
        let directory = try TemporaryDirectory()
        let listener = try PacketSocket.listen(at: directory.path(of: "control"))
        let program = try Subprocess(EideticProgram.path, arguments: ["app", "list", "--runtime-dir", directory.path])
        await withCheckedContinuation { continuation in
            Thread.start(name: "accept") {
                var polled = pollfd(fd: listener.rawValue, events: Int16(POLLIN), revents: 0)
                _ = poll(&polled, 1, 20_000)
                continuation.resume()
            }
        }
        // It waits for an answer now.
        let connection = try #require(try listener.accept())
        #expect(connection.peer?.process == program.identifier)
        let maps = String(decoding: try FileSystem().contents(of: "/proc/\(program.identifier)/maps"), as: UTF8.self)
        #expect(maps.contains("/eidetic-app"))
        for library in ["jpeg", "png", "webp", "gif", "tiff", "lcms", "deflate", "avif", "heif", "jxl", "curl"] {
            #expect(!maps.contains("/lib\(library)"), "lib\(library)")
        }
    }

    @Test("B08 without `eidetic-app` beside it, `eidetic app` performs the commands itself")
    func missingProgram() async throws {
        let directory = try TemporaryDirectory()
        let copy = directory.path(of: "eidetic")
        #expect(try await Subprocess.run("cp", arguments: [EideticProgram.path, copy]).status == .exited(0))
        let arguments = ["app", "list", "--runtime-dir", directory.path]
        let result = try await Subprocess.run(copy, arguments: arguments, environment: ["PATH": directory.path])
        #expect(result.status == .exited(1) && result.errorText.contains("no supervisor runs"))
        #expect(result.errorText.contains("eideticd is not installed; it is in the package eidetic-background"))
    }

    @Test("an identifier is needed, and a count is a number from 1 to 200", arguments: ["0", "201", "x"])
    func usage(count: String) async throws {
        #expect(try await EideticProgram.run("app", "quit").status == .exited(2))
        #expect(try await EideticProgram.run("app", "log", "--count", count).status == .exited(2))
    }

    @Test("B08 an application is launched, listed, explained and ended")
    func commands() async throws {
        let directory = try TemporaryDirectory()
        let programs = EideticProgram.path.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        let daemon = try Subprocess(
            "\(programs)/eideticd",
            arguments: [
                "--runtime-directory", directory.path(of: "run"), "--state-directory", directory.path(of: "state"),
            ]
        )
        #expect(await daemon.waitForOutput("ready"))
        let environment = ["EIDETIC_RUNTIME_DIR": directory.path(of: "run")]
        func run(_ words: String...) async throws -> Subprocess.Result {
            try await Subprocess.run(EideticProgram.path, arguments: ["app"] + words, environment: environment)
        }
        #expect(try await run("launch", "one", "\(programs)/eidetic-probe", "supervised").status == .exited(0))
        #expect(await daemon.waitForOutput("probe didBecomeActive"))
        let list = try await run("list", "--json").outputText
        #expect(list.contains("\"identifier\":\"one\"") && list.contains("\"openTasks\":0"))
        #expect(try await run("why", "one").outputText.contains("not suspended: it is in the foreground"))
        #expect(try await run("launch", "two").errorText.contains("two"))
        #expect(try await run("quit", "one").status == .exited(0))
        #expect(await daemon.waitForOutput("probe willTerminate"))
        #expect(try await run("log", "one").outputText.contains("launched"))
        daemon.kill(SIGTERM)
        _ = await daemon.waitUntilExit()
    }
}
