import EideticCore
import EideticTestSupport
import Testing

@Suite("Passwords on the command line", .timeLimit(.minutes(2)))
struct SecretTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "secrets") }

    private func load(
        _ words: [String],
        environment: [String: String?] = [:]
    ) async throws -> Subprocess.Result {
        let words = ["load", "--cache-dir", directory.path(of: "cache")] + words
        return try await Subprocess.run(EideticProgram.path, arguments: words, environment: environment)
    }

    @Test("C18 passwords are wiped from the command line that other users see, before a request is sent")
    func commandLine() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { _ in [.wait(gate), .response(404)] }
        let secret = "S3CRET"
        let place = "bob:\(secret)@127.0.0.1:\(origin.port)/b"
        let urls = ["\(origin.url)/a"] + ["//", "", "/", "\\"].map { "http:\($0)\(place)" }
        let options = [
            "--user", "bob:\(secret)", "--user=bob:\(secret)", "--header", "X-Key: \(secret)",
            "--proxy", "none",
        ]
        let words = ["load", "--cache-dir", directory.path(of: "cache")] + options + urls
        let process = try Subprocess(EideticProgram.path, arguments: words)
        await origin.waitForRequests(count: 2)
        let line = try FileSystem().contents(of: "/proc/\(process.identifier)/cmdline")
        gate.open()
        _ = await process.waitUntilExit()
        let text = String(decoding: line, as: UTF8.self)
        #expect(!text.contains(secret), "\(text)")
        #expect(text.contains("--user") && text.contains("/a"))
    }

    private static let unusual = [
        "http://my user:SECRET@127.0.0.1:1/", "http://bob:12 SECRET@127.0.0.1:1/", "http:// bob:SECRET@127.0.0.1:1/",
        "http://bob:[SEC RET@127.0.0.1:1/", "http://bob:p@ss SECRET@127.0.0.1:1/", "http://SEC RET@127.0.0.1:1/",
        "http://user@name:SEC?RET@h/", "http://bob:SE\"C?RET@h/", "http://bob:[SEC?RET@h/", "http://bob:SEC:RET?x@h/",
        "//bob:SECRET@h/x", "http://bob:SEC\u{1}RET@127.0.0.1:1/",
    ]

    @Test("C18 no output has the password of a URL, with and without --json", arguments: [[], ["--json"]])
    func messages(options: [String]) async throws {
        let urls = [
            "ftp://bob:SECRET@h/x", "http://bob:SECRET@[bad/x", "http:bob:SECRET@127.0.0.1:1/x", "http://bob:S?RET@h/",
        ]
        let others = ["http:/bob:SECRET@[bad/x", "http:\\bob:SECRET@h:x/", "http://bob:SEC\tRET@h:x/"]
        for url in urls + others + Self.unusual {
            let result = try await load(options + ["--no-store", "--explain", "--metrics", "-", url])
            #expect(result.status == .exited(1))
            let text = result.errorText + result.outputText
            #expect(!text.contains("RET"), "\(text)")
        }
    }

    @Test(
        "C18 the record of an output directory has no password, and knows the URL again",
        arguments: [
            ("//", "SECRET", "/a.png"), ("", "SECRET", "/a.png"), ("/", "SECRET", "/a.png"),
            ("///", "SECRET", "/a.png"),
            ("\\", "SECRET", "/a.png"), ("//", "12 SECRET", "/a.png"), ("//", "[ SECRET", "/a.png"),
            ("//", "p@ss SECRET", ""), ("", "SECRET", ""),
        ]
    )
    func record(slashes: String, password: String, path: String) async throws {
        let png = try TestImages.encoded(as: .png)
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Type": "image/png"], body: png)] }
        let url = "http:\(slashes)bob:\(password)@127.0.0.1:\(origin.port)\(path)", out = directory.path(of: "out")
        for _ in 0..<2 { #expect(try await load(["--out", out, "--continue", url]).status == .exited(0)) }
        #expect(origin.requests.count == 1)
        #expect(!String(decoding: try directory.contents(of: "out/.eidetic-load"), as: UTF8.self).contains("SECRET"))
        #expect(try FileSystem().entryNames(in: out).allSatisfy { !$0.contains("SECRET") })
    }

    @Test("L26 --user-file and --netrc send the credentials of a file")
    func files() async throws {
        let origin = try ScriptedOrigin { _ in [.response(404)] }
        try directory.write(Array("bob:from file\nignored\n".utf8), to: "user")
        try directory.write(Array("bob:\u{301}p\n".utf8), to: "marked")
        try directory.write(
            Array(
                "# comment\nmachine example.org login x password y\nmachine 127.0.0.1\n  login bob password netrc\n"
                    .utf8
            ),
            to: ".netrc"
        )
        let url = "\(origin.url)/a.png"
        _ = try await load(["--user-file", directory.path(of: "user"), url])
        _ = try await load(["--netrc", url], environment: ["HOME": directory.path, "NETRC": nil])
        _ = try await load(["--netrc=\(directory.path(of: ".netrc"))", url])
        _ = try await load(["--user-file", directory.path(of: "marked"), url])
        _ = try await load(["--user=bob:\u{301}p", url])
        // echo -n 'bob:from file' | base64
        let sent = origin.requests.map { $0.headers["authorization"] ?? "" }
        let marked = "Basic Ym9iOsyBcA=="
        #expect(sent == ["Basic Ym9iOmZyb20gZmlsZQ==", "Basic Ym9iOm5ldHJj", "Basic Ym9iOm5ldHJj", marked, marked])
        let missing = try await load(["--netrc=/none", url])
        #expect(missing.status == .exited(1) && missing.errorText == "eidetic: /none: No such file or directory\n")
    }

    @Test("L26 a user without a password is refused where no terminal can ask for it")
    func prompt() async throws {
        let words = ["-w", EideticProgram.path, "load", "--user", "bob", "http://127.0.0.1:1/a"]
        let result = try await Subprocess.run("setsid", arguments: words)
        #expect(result.status == .exited(1))
        #expect(result.errorText == "eidetic: --user bob: there is no password, and no terminal to ask for it\n")
    }
}
