import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("eidetic load, attacks", .timeLimit(.minutes(2)))
struct LoadAttackTests {
    private let directory: TemporaryDirectory
    private let origin: ScriptedOrigin

    init() throws {
        directory = try TemporaryDirectory(named: "attacks")
        let png = try TestImages.encoded(as: .png)
        origin = try ScriptedOrigin { request in
            if request.path == "/reason" {
                return [
                    .send(Array("HTTP/1.1 503 \u{1b}]0;x\u{7}\u{9b}31m\u{202e}y\r\nContent-Length: 0\r\n\r\n".utf8))
                ]
            }
            return [.response(200, headers: ["Content-Type": "image/png"], body: png)]
        }
    }

    private func eidetic(_ words: [String], input: [UInt8] = [], log: String? = nil) async throws -> Subprocess.Result {
        let words = [words[0], "--cache-dir", directory.path(of: "cache")] + words.dropFirst()
        return try await Subprocess.run(
            EideticProgram.path,
            arguments: words,
            environment: ["EIDETIC_LOG": log],
            directory: directory.path,
            input: input
        )
    }

    private func list(_ count: Int) -> [UInt8] {
        Array((0..<count).map { "http://127.0.0.1:1/\($0)/photo.jpg\n" }.joined().utf8)
    }

    @Test("C18 a name of --out has no slash and no control character, however it is encoded")
    func names() async throws {
        let paths = ["a%2F%CC%81b.png", "%2E%CC%81.%2Fc.png", "d%00e%0A%C2%9B.png", "%2Fetc%2Fpasswd"]
        let result = try await eidetic(["load", "--out", "out"] + paths.map { "\(origin.url)/\($0)" })
        #expect(result.status == .exited(0), "\(result.errorText)")
        let names = Set(try FileSystem().entryNames(in: directory.path(of: "out")))
        #expect(names == [".eidetic-load", "a_\u{301}b.png", "\u{301}._c.png", "d_e__.png", "_etc_passwd.png"])
        #expect(
            names.allSatisfy { !$0.unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) } }
        )
    }

    @Test("L06 a server that does not respond holds up no other one, also not on another port of the same host")
    func silentServer() async throws {
        let arrivals = Guarded(0), isServed = Gate(), png = try TestImages.encoded(as: .png)
        let silent = try ScriptedOrigin { _ in [.wait(isServed), .response(200, body: png)] }
        let good = try ScriptedOrigin { _ in
            let count = arrivals.withLock { count in
                count += 1
                return count
            }
            return (count == 20 ? [.open(isServed)] : []) + [.response(200, body: png)]
        }
        let urls = (0..<20).map { "\(silent.url)/\($0)" } + (0..<20).map { "\(good.url)/\($0)" }
        let result = try await eidetic(["load", "--timeout", "30"] + urls)
        #expect(result.status == .exited(0), "\(result.errorText)")
    }

    @Test("C18 a FIFO, a device or a link under the name of an output file is replaced and never opened")
    func occupiedNames() async throws {
        let out = directory.path(of: "out"), victim = directory.path(of: "victim")
        try FileSystem().makeDirectories(out)
        try directory.write([1, 2, 3], to: "victim")
        #expect(mkfifo("\(out)/fifo.png", 0o600) == 0)
        #expect(symlink(victim, "\(out)/link.png") == 0)
        #expect(symlink("/dev/null", "\(out)/device.png") == 0)
        let names = ["fifo", "link", "device"]
        let words = ["load", "--out", "out"] + names.map { "\(origin.url)/\($0).png" }
        #expect(try await eidetic(words).outputText.contains("; 3 not written, because the file exists"))
        let result = try await eidetic(words + ["--overwrite"])
        #expect(result.status == .exited(0), "\(result.errorText)")
        for name in names {
            var status = stat()
            #expect(lstat("\(out)/\(name).png", &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFREG && status.st_size > 3)
        }
        #expect(try directory.contents(of: "victim") == [1, 2, 3])
    }

    @Test("C18 thousands of URLs that end alike are named in linear time: they end within the limit of this test")
    func equalNames() async throws {
        let count = Torture.repetitions(5_000, full: 40_000)
        let result = try await eidetic(["load", "--offline", "--out", "out", "-"], input: list(count))
        #expect(result.status == .exited(1))
        #expect(result.outputText.contains("\(count) failed"))
    }

    @Test("C18 equal names are numbered, and a number that a name has already is skipped")
    func numbers() async throws {
        let names = ["photo-2", "photo", "x/photo", "y/Photo", "z/photo"]
        let result = try await eidetic(["load", "--out", "out"] + names.map { "\(origin.url)/\($0).png" })
        #expect(result.status == .exited(0))
        let files = Set(try FileSystem().entryNames(in: directory.path(of: "out")))
        #expect(files == [".eidetic-load", "photo-2.png", "photo.png", "photo-3.png", "Photo-4.png", "photo-5.png"])
    }

    @Test("C18 control characters of a server reach neither the terminal nor the log")
    func reason() async throws {
        let result = try await eidetic(["load", "\(origin.url)/reason"], log: "debug")
        #expect(result.errorText.contains("status 503 ?]0;x??31m?y"))
        #expect(result.errorText.contains("eidetic pipeline info"))
        let controls = (result.errorText + result.outputText).unicodeScalars.filter {
            $0 != "\n" && ($0.value < 0x20 || (0x7f..<0xa0).contains($0.value) || $0 == "\u{202e}")
        }
        #expect(controls.isEmpty)
    }

    @Test("C18 JSON escapes C1 and bidirectional overrides, and loses nothing")
    func json() async throws {
        let url = "http://127.0.0.1:1/\u{9b}31m\u{202e}\u{1b}\u{7f}é"
        let result = try await eidetic(["load", "--json", "--offline", url])
        for escape in ["\\u009b", "\\u202e", "\\u001b", "\\u007f"] { #expect(result.outputText.contains(escape)) }
        #expect(!result.outputText.unicodeScalars.contains("\u{9b}"))
        #expect(try result.lines(LoadLine.self).first?.url == url)
    }

    @Test(
        "C18 a contact sheet has at most 20,000 images; with one more nothing is loaded",
        arguments: Torture.isFull ? [0, 1] : [1]
    )
    func contactSheet(surplus: Int) async throws {
        let words = ["load", "--offline", "--contact-sheet", "sheet.png", "-"]
        let result = try await eidetic(words, input: list(20_000 + surplus))
        #expect(result.status == .exited(1))
        let isRefused = result.errorText.contains("a contact sheet has at most 20000 images, and the list has 20001")
        #expect(isRefused == (surplus == 1))
        #expect((access(directory.path(of: "sheet.png"), F_OK) == 0) == (surplus == 0))
    }

    @Test(
        "C18 eight downloads without a byte delay no other host, and end at --timeout",
        arguments: ["load", "prefetch"]
    )
    func drips(command: String) async throws {
        let gate = Gate()
        let silent = try ScriptedOrigin { _ in [.head(200, headers: ["Content-Length": "1000"]), .wait(gate)] }
        let (slow, good) = (
            (0..<8).map { "\(silent.url)/\($0)" }, (0..<3).map { "http://localhost:\(origin.port)/\($0)" }
        )
        let result = try await eidetic([command, "--json", "--timeout", "2"] + slow + good)
        let lines = try result.lines(LoadLine.self)
        #expect(lines.count == 11)
        #expect(Set(lines.prefix(3).map(\.url)) == Set(good))
        #expect(lines.dropFirst(3).allSatisfy { $0.error?.hasPrefix("timedOut: ") == true })
    }

    @Test("an invalid time-out is refused", arguments: ["0", "-1", "x", "86401", "nan"])
    func invalidTimeout(text: String) async throws {
        #expect(try await eidetic(["load", "--timeout", text, origin.url]).status == .exited(2))
    }
}
