import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("eidetic load, failures", .needsNginx, .timeLimit(.minutes(2)))
struct LoadFailureTests {
    private static let configuration = Nginx.Configuration(
        server: """
            location = /500 { return 500; }
            location = /page { default_type text/html; return 200 "<html><body>not found</body></html>"; }
            location = /slow.png { limit_rate 100; }
            """
    )

    private let directory: TemporaryDirectory
    private let server: Nginx

    init() async throws {
        directory = try TemporaryDirectory(named: "load")
        server = try await Nginx(Self.configuration)
    }

    private func load(_ words: [String]) async throws -> Subprocess.Result {
        let words = ["load", "--json", "--cache-dir", directory.path(of: "cache")] + words
        return try await Subprocess.run(EideticProgram.path, arguments: words, directory: directory.path)
    }

    @Test("each invalid URL has a specific message, and the others are loaded")
    func messages() async throws {
        let png = try TestImages.encoded(as: .png)
        let good = try server.addFile(png, at: "good.png")
        try server.addFile(Array(png.prefix(png.count / 2)), at: "cut.png")
        try server.addFile(TestImages.hugePNG(width: 50_000, height: 50_000), at: "bomb.png")
        let expected: [(url: String, code: String)] = [
            ("no url", "invalidURL"),
            ("gopher://host/a", "invalidURL"),
            ("http://no-such-host.invalid/a.png", "hostNotFound"),
            ("http://127.0.0.1:1/a.png", "connectionRefused"),
            ("\(server.url)/missing.png", "httpStatus"),
            ("\(server.url)/500", "httpStatus"),
            ("\(server.url)/page", "notAnImage"),
            ("\(server.url)/cut.png", "truncated"),
            ("\(server.url)/bomb.png", "limitExceeded"),
            (directory.path, "invalidURL"),
        ]
        let result = try await load(expected.map(\.url) + [good])
        #expect(result.status == .exited(1))
        let lines = Dictionary(uniqueKeysWithValues: try result.lines(LoadLine.self).map { ($0.url, $0) })
        for (url, code) in expected {
            #expect(lines[url]?.source == "error")
            #expect(lines[url]?.error?.hasPrefix("\(code): ") == true, "\(url): \(lines[url]?.error ?? "no line")")
        }
        #expect(lines[good]?.source == "network")
        #expect(Set(lines.values.map(\.error)).count == expected.count + 1)
        // No failed image was stored.
        let list = try await EideticProgram.run("cache", "list", "--cache-dir", directory.path(of: "cache"))
        #expect(list.outputText.split(separator: "\n").count == 1)
    }

    @Test(
        "L07 a path instead of a URL is reported with the URL to use",
        arguments: [
            ("/tmp/a b.png", "\"/tmp/a b.png\" is a path and no URL; use file:///tmp/a b.png"),
            ("./a.png", "\"./a.png\" is a path and no URL; use file:// and an absolute path"),
            ("images/a.png", "\"images/a.png\" has no scheme; use https://, or file:// and an absolute path"),
        ]
    )
    func paths(_ path: String, message: String) async throws {
        let result = try await load([path])
        #expect(result.status == .exited(1))
        #expect(try result.lines(LoadLine.self).map(\.error) == ["invalidURL: \(message)"])
    }

    @Test("L07 behind the messages stands once for each code what helps", arguments: ["load", "prefetch"])
    func remedies(command: String) async throws {
        let words = [command, "--cache-dir", directory.path(of: "cache")]
        let urls = ["http://127.0.0.1:1/a.png", "http://127.0.0.1:1/b.png", "\(server.url)/page"]
        let result = try await Subprocess.run(EideticProgram.path, arguments: words + urls)
        let lines = result.errorText.split(separator: "\n").map { String($0) }
        let expected = [EideticError.Code.connectionRefused, .notAnImage].map { code in
            "eidetic: what helps (\(code)): \(code.remedy)"
        }
        #expect(result.status == .exited(1) && lines.count == 5, "\(result.errorText)")
        #expect(lines.suffix(2).sorted() == expected.sorted(), "\(result.errorText)")
        let json = try await Subprocess.run(EideticProgram.path, arguments: words + ["--json"] + urls)
        #expect(json.errorText.isEmpty, "\(json.errorText)")
    }

    @Test("L04 a proxy of the environment that cannot be reached is named")
    func unreachableProxy() async throws {
        let words = ["load", "--json", "--cache-dir", directory.path(of: "cache"), "http://example.org/a.png"]
        let proxy = "127.0.0.1:\(try LoopbackPort.unused())"
        let result = try await Subprocess.run(
            EideticProgram.path,
            arguments: words,
            environment: ["http_proxy": "http://\(proxy)", "no_proxy": nil, "NO_PROXY": nil]
        )
        let reason = "cannot connect to the proxy \(proxy) for example.org:80: Connection refused"
        let message = "connectionRefused: http://example.org/a.png: \(reason)"
        #expect(try result.lines(LoadLine.self).map(\.error) == [message])
    }

    @Test("images are loaded if a file is at the path of the cache directory, and that is reported")
    func cacheIsFile() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        try directory.write([1], to: "cache")
        let result = try await load([url])
        #expect(result.status == .exited(1))
        #expect(try result.lines(LoadLine.self).map(\.source) == ["network"])
        #expect(result.errorText.contains(directory.path(of: "cache")))
        #expect(result.errorText.contains("images are loaded without the cache"))
        #expect(try directory.contents(of: "cache") == [1])
    }

    @Test(
        "images are loaded if the disk is full, and that is reported",
        .disabled(
            if: Sanitizer.isActive,
            "skipped: the thread sanitizer maps a file, which could not grow either"
        )
    )
    func diskIsFull() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        // The limit makes every write to a file fail, as on a full disk, and to memory that a decoding process shares.
        let script = "ulimit -f 0; trap '' XFSZ; exec \"$0\" load --no-sandbox --json --cache-dir \"$1\" \"$2\""
        let arguments = ["-c", script, EideticProgram.path, directory.path(of: "cache"), url]
        let result = try await Subprocess.run("bash", arguments: arguments)
        #expect(result.status == .exited(1))
        #expect(try result.lines(LoadLine.self).map(\.source) == ["network"])
        #expect(result.errorText.contains("was not stored: "))
    }

    @Test("a line of --json has the reason for which an image that was loaded is in no file")
    func fileIsNotWritten() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        try FileSystem().makeDirectories(directory.path(of: "out"))
        try directory.write([1], to: "out/a.png")
        let result = try await load(["--json", "--out", "out", url])
        let line = try #require(try result.lines(LoadLine.self).first)
        #expect(line.source == "network" && line.file == nil)
        #expect(line.error?.contains("a.png") == true, "\(result.outputText)")
    }

    @Test("an invalid output directory is reported before anything is loaded")
    func outIsFile() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        try directory.write([], to: "out")
        let result = try await load(["--out", "out", url])
        #expect(result.status == .exited(1))
        #expect(result.errorText == "eidetic: out: Not a directory\n")
        #expect(try await server.requests().isEmpty)
    }

    @Test("a pipe that is closed ends a batch: what has not started is not loaded")
    func closedPipe() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let urls = (0..<60).map { "\(url)?\($0)" }, closed = directory.path(of: "closed")
        // The program starts after the other end of the pipe is closed.
        let program = "{ read _ < \"$1\"; shift; \"$0\" load --json --concurrency 1 --cache-dir \"$@\"; }"
        let script = "mkfifo \"$1\" && \(program) | { exec <&-; echo > \"$1\"; }"
        let arguments = ["-c", script, EideticProgram.path, closed, directory.path(of: "cache")] + urls
        _ = try await Subprocess.run("sh", arguments: arguments)
        #expect(try await (1..<10).contains(server.requests().count))
    }

    @Test("Ctrl-C cancels the loads, prints a summary, and exits with status 130")
    func interrupt() async throws {
        let good = try server.addFile(try TestImages.encoded(as: .png), at: "good.png")
        let slow = try server.addFile(try TestImages.encoded(as: .png, width: 640, height: 480), at: "slow.png")
        let words = ["load", "--json", "--cache-dir", directory.path(of: "cache"), good, slow, "\(slow)?2"]
        let process = try Subprocess(EideticProgram.path, arguments: words)
        #expect(await process.waitForOutput("good.png"))
        process.kill(SIGINT)
        let result = await process.waitUntilExit()
        #expect(result.status == .exited(130))
        #expect(result.errorText.contains("stopped: 1 of 3 images loaded: 1 from network; 2 not loaded"))
        #expect(try result.lines(LoadLine.self).map(\.url) == [good])
    }
}
