import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("eidetic prefetch", .needsNginx, .timeLimit(.minutes(2)))
struct PrefetchTests: LoadingTests {
    let fixture: LoadFixture

    init() async throws { fixture = try await LoadFixture() }

    private func run(_ command: String, arguments words: [String]) async throws -> Subprocess.Result {
        let words = [command, "--cache-dir", directory.path(of: "cache")] + words
        return try await Subprocess.run(EideticProgram.path, arguments: words, directory: directory.path)
    }

    @Test("L19 prefetched images are loaded without the server, and a second prefetch sends no request")
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

    @Test("L19 L20 prefetch takes the network options of load")
    func networkOptions() async throws {
        let png = try TestImages.encoded(as: .png)
        let origin = try ScriptedOrigin { request in
            guard request.headers["x-key"] == "k" else { return [.response(403)] }
            if request.path == "/from" { return [.response(302, headers: ["Location": "/to"])] }
            return [.response(200, headers: ["Content-Type": "image/png"], body: png)]
        }
        let url = origin.url + "/from"
        let refused = try await run("prefetch", arguments: ["--header", "X-Key: k", "--max-redirects", "0", url])
        #expect(refused.status == .exited(1) && refused.errorText.contains("more than 0 redirects"))
        let followed = try await run("prefetch", arguments: ["--header", "X-Key: k", url])
        #expect(followed.status == .exited(0), "\(followed.errorText)")
        #expect(try await run("prefetch", arguments: [url]).status == .exited(1))
    }

    @Test("L19 --disk-only checks headers only; without it a broken image is refused")
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
        #expect(lax.outputText.contains("1 of 1 images loaded: 1 from network"))
    }

    @Test(
        "L19 an image that its server forbids storing is not reported as stored",
        arguments: [([], "forbids storing it"), (["--disk-only"], "it must not be stored")] as [([String], String)]
    )
    func forbidden(words: [String], reason: String) async throws {
        let png = try TestImages.encoded(as: .png)
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Cache-Control": "no-store"], body: png)] }
        let result = try await run("prefetch", arguments: words + [origin.url + "/a.png"])
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains(reason), "\(result.errorText)")
    }

    @Test("L19 failures are reported and do not stop the others")
    func failures() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let result = try await run("prefetch", arguments: ["\(server.url)/none.png", "no url", url])
        #expect(result.status == .exited(1))
        #expect(result.outputText.contains("1 of 3 images loaded: 1 from network; 2 failed"))
        #expect(result.errorText.contains("404"))
    }

    @Test("L19 Ctrl-C starts no further image, cancels those in progress and exits with status 130")
    func cancels() async throws {
        let gate = Gate(), origin = try ScriptedOrigin { _ in [.wait(gate)] }
        let urls = (0..<20).map { "\(origin.url)/\($0).png" }
        // Of three concurrent downloads, two may be from one host.
        let words = ["prefetch", "--cache-dir", directory.path(of: "cache"), "--concurrency", "3"] + urls
        let process = try Subprocess(EideticProgram.path, arguments: words)
        await origin.waitForRequests(count: 2)
        process.kill(SIGINT)
        let result = await process.waitUntilExit()
        #expect(result.status == .exited(130))
        #expect(result.errorText.contains("stopped: 0 of 20 images loaded"))
        #expect(origin.requests.count == 2)
    }
}
