import EideticCore
import EideticTestSupport
import Testing

@Suite("eidetic with --shared", .needsNginx, .timeLimit(.minutes(2)))
struct SharedTierTests: LoadingTests {
    let fixture: LoadFixture

    init() async throws { fixture = try await LoadFixture() }

    private func run(_ words: String...) async throws -> Subprocess.Result {
        try await Subprocess.run(EideticProgram.path, arguments: words, directory: directory.path)
    }

    #if Redis
    @Test("L09 a second machine's image is from the shared tier, whose contents can be managed", .needsRedis)
    func shared() async throws {
        let redis = try await RedisProcess()
        let bytes = try TestImages.encoded(as: .png), url = try server.addFile(bytes, at: "a.png")
        for (machine, source) in [("first", "network"), ("second", "shared"), ("second", "disk")] {
            let result = try await run("load", "--shared", redis.url, "--cache-dir", machine, "--explain", url)
            #expect(result.status == .exited(0), "\(result.errorText)")
            #expect(result.outputText.hasPrefix(source), "\(result.outputText)")
            #expect(result.outputText.contains("\n    shared ") == (source != "disk"))
        }
        #expect(try await run("cache", "info", "--shared", redis.url).outputText.hasPrefix("shared: 1 entry, "))
        #expect(try await run("cache", "list", "--shared", redis.url).outputText.contains(url))
        #expect(try await run("cache", "verify", "--shared", redis.url).outputText == "1 checked, 0 damaged\n")
        #expect(try await run("cache", "get", url, "--shared", redis.url).output == bytes)
        #expect(try await run("cache", "remove", url + "x", "--shared", redis.url).status == .exited(1))
        #expect(try await run("cache", "remove", url, "--shared", redis.url).status == .exited(0))
        #expect(try await run("cache", "clear", "--shared", redis.url).outputText == "0 entries removed\n")
    }

    @Test("L09 a damaged entry is reported by verify", .needsRedis)
    func verify() async throws {
        let redis = try await RedisProcess()
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        _ = try await run("load", "--shared", redis.url, "--cache-dir", "first", url)
        try await redis.command("SETRANGE", try #require(try await redis.valueNames().first), "20", "damage")
        let result = try await run("cache", "verify", "--shared", redis.url)
        #expect(result.status == .exited(1) && result.outputText == "1 checked, 1 damaged\n")
    }

    @Test("L09 a tier that cannot be reached fails no load, and TLS is refused with the reason")
    func unreachable() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let absent = try await run("load", "--shared", "unix:///nonexistent", "--cache-dir", "first", url)
        #expect(absent.status == .exited(0) && absent.outputText.hasPrefix("network"))
        let secure = try await run("load", "--shared", "rediss://host", "--cache-dir", "first", url)
        #expect(secure.status == .exited(1) && secure.errorText.contains("TLS is not supported"))
    }
    #else
    @Test("L09 without the trait Redis, --shared is refused with the reason")
    func refused() async throws {
        for words in [["load", "http://a/a.png"], ["cache", "info"]] {
            let arguments = words + ["--shared", "redis://host"]
            let result = try await Subprocess.run(EideticProgram.path, arguments: arguments, directory: directory.path)
            #expect(result.status == .exited(1) && result.errorText.contains("trait Redis"))
        }
    }
    #endif
}
