import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("eidetic prefetch", .needsNginx, .timeLimit(.minutes(2)))
struct PrefetchTests {
    private let directory: TemporaryDirectory
    private let server: Nginx

    init() async throws {
        directory = try TemporaryDirectory(named: "prefetch")
        server = try await Nginx()
    }

    private func run(_ command: String, arguments words: [String]) async throws -> Subprocess.Result {
        let words = [command, "--cache-dir", directory.path(of: "cache")] + words
        return try await Subprocess.run(EideticProgram.path, arguments: words, directory: directory.path)
    }

    @Test("L19 prefetched pictures are loaded without the server, and a second prefetch asks for nothing")
    func prefetches() async throws {
        let urls = try (0..<5).map { try server.addFile(try TestImages.encoded(as: .jpeg), at: "\($0).jpg") }
        let first = try await run("prefetch", arguments: ["--json"] + urls + [urls[0]])
        #expect(first.status == .exited(0), "\(first.errorText)")
        let lines = try first.lines(LoadLine.self)
        #expect(lines.map(\.url).sorted() == urls)
        #expect(lines.allSatisfy { $0.source == "network" && $0.width == 64 && $0.format == "jpeg" })
        let second = try await run("prefetch", arguments: ["--json"] + urls)
        #expect(try second.lines(LoadLine.self).allSatisfy { $0.source == "disk" })
        let loaded = try await run("load", arguments: ["--json"] + urls)
        #expect(try loaded.lines(LoadLine.self).allSatisfy { $0.source == "disk" })
        #expect(try await server.requests().count == 5)
    }

    @Test("L19 --disk-only looks at heads alone; without it what cannot be decoded is refused")
    func diskOnly() async throws {
        let png = try TestImages.encoded(as: .png, width: 300, height: 200)
        // Complete as a file, but its pixels are damaged.
        var damaged = png
        for index in 60..<90 { damaged[index] ^= 0xff }
        let url = try server.addFile(damaged, at: "a.png")
        let strict = try await run("prefetch", arguments: [url])
        #expect(strict.status == .exited(1))
        let lax = try await run("prefetch", arguments: ["--disk-only", url])
        #expect(lax.status == .exited(0), "\(lax.errorText)")
        #expect(lax.outputText.contains("1 of 1 pictures loaded: 1 from network"))
    }

    @Test("L19 what its server forbids to keep is not said to be kept", arguments: [[], ["--disk-only"]])
    func forbidden(words: [String]) async throws {
        let png = try TestImages.encoded(as: .png)
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Cache-Control": "no-store"], body: png)] }
        let result = try await run("prefetch", arguments: words + [origin.url + "/a.png"])
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains("stored") || result.errorText.contains("store it"))
    }

    @Test("L19 what fails is said, and does not stop the others")
    func failures() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let result = try await run("prefetch", arguments: ["\(server.url)/none.png", "no url", url])
        #expect(result.status == .exited(1))
        #expect(result.outputText.contains("1 of 3 pictures loaded: 1 from network; 2 failed"))
        #expect(result.errorText.contains("404"))
    }

    @Test("L19 Ctrl-C begins no further picture, leaves those under way and ends with 130")
    func cancels() async throws {
        let gate = Gate(), origin = try ScriptedOrigin { _ in [.wait(gate)] }
        let urls = (0..<20).map { "\(origin.url)/\($0).png" }
        let words = ["prefetch", "--cache-dir", directory.path(of: "cache"), "--concurrency", "2"] + urls
        let process = try Subprocess(EideticProgram.path, arguments: words)
        await origin.waitForRequests(count: 2)
        process.kill(SIGINT)
        let result = await process.waitUntilExit()
        #expect(result.status == .exited(130))
        #expect(result.errorText.contains("stopped: 0 of 20 pictures loaded"))
        #expect(origin.requests.count == 2)
    }
}

@Suite("eidetic load, in detail", .needsNginx, .timeLimit(.minutes(2)))
struct LoadDetailTests {
    private let directory: TemporaryDirectory
    private let server: Nginx

    init() async throws {
        directory = try TemporaryDirectory(named: "load")
        server = try await Nginx()
    }

    private func load(_ words: [String]) async throws -> Subprocess.Result {
        let words = ["load", "--cache-dir", directory.path(of: "cache")] + words
        return try await Subprocess.run(EideticProgram.path, arguments: words, directory: directory.path)
    }

    @Test("L26 --explain says why a picture came from where, and how long each step took")
    func explains() async throws {
        struct Line: Decodable {
            struct Step: Decodable {
                let stage: String
                let ms: Double
                let note: String
            }
            let source: String
            let ms: Double
            let steps: [Step]
        }
        let url = try server.addFile(try TestImages.encoded(as: .jpeg, width: 400, height: 300), at: "a.jpg")
        let first = try #require(try await load(["--json", "--explain", url]).lines(Line.self).first)
        #expect(first.steps.map(\.stage) == ["memory", "disk", "network", "decode", "store"])
        #expect(first.steps.map(\.note).prefix(2) == ["miss", "miss"])
        #expect(first.steps[2].note.hasPrefix("200, "))
        #expect(first.steps.reduce(0) { $0 + $1.ms } <= first.ms)
        let second = try await load(["--explain", url])
        #expect(second.outputText.contains("\n    disk "))
        #expect(second.outputText.contains("hit, "))
    }

    @Test("L10 --progressive tells of partial pictures while they come")
    func progressive() async throws {
        struct Line: Decodable {
            let preview: Int?
            let width: Int
            let source: String?
        }
        let gate = Gate(), bytes = try TestImages.encoded(as: .jpeg, width: 400, height: 300)
        let first = Array(bytes.prefix(bytes.count / 2)), rest = Array(bytes.dropFirst(bytes.count / 2))
        let origin = try ScriptedOrigin { _ in
            [.head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(first), .wait(gate), .send(rest)]
        }
        let words = [
            "load", "--cache-dir", directory.path(of: "cache"), "--json", "--progressive", "\(origin.url)/a.jpg",
        ]
        let process = try Subprocess(EideticProgram.path, arguments: words)
        _ = await process.waitForOutput("preview")
        gate.open()
        let lines = try await process.waitUntilExit().lines(Line.self)
        #expect(lines.first?.preview == 1)
        #expect(lines.allSatisfy { $0.width == 400 })
        #expect(lines.last?.source == "network")
    }

    @Test("L06 --option gives a request its options, each by its name")
    func options() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .jpeg), at: "a.jpg")
        let offline = try await load(["--option", "fromCacheOnly", url])
        #expect(offline.status == .exited(1))
        #expect(offline.errorText.contains("no cache has"))
        _ = try await load(["--option", "cacheMemoryOnly", "--option=highPriority", url])
        #expect(try await load(["--json", url]).lines(LoadLine.self).map(\.source) == ["network"])
        _ = try await load(["--option", "refreshCached", url])
        #expect(try await server.requests().map(\.status) == [200, 200, 304])
        let wrong = try await load(["--option", "refreshCache", url])
        #expect(wrong.status == .exited(2))
    }
}
