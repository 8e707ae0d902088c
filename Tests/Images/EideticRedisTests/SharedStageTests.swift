#if Redis
import Eidetic
import EideticCore
import EideticFetch
import EideticHTTP
import EideticRedis
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Shared tier of a pipeline", .timeLimit(.minutes(2)), .needsRedis, .needsNginx)
struct SharedStageTests {
    @Test("L09 what one machine has loaded, another one finds in the shared tier, and then on its own disk")
    func source() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let request = try fleet.serve("a.png")
        let first = try fleet.makeMachine(), second = try fleet.makeMachine()
        #expect(try await first.response(for: request).source == .network)
        let response = try await second.response(for: request)
        #expect(response.source == .shared)
        #expect(response.image.pixels[63, 47] == SIMD4(63, 47, 7, 255))
        #expect(response.trace.steps.map(\.stage) == [.memory, .disk, .shared, .decode, .store])
        #expect(second.statistics.sharedHits == 1 && second.statistics.sharedHitRatio == 1)
        #expect(second.statistics.networkLoads == 0 && second.statistics.diskHits == 0)
        #expect(second.statistics.prometheusText.contains("eidetic_shared_hits_total 1\n"))
        second.cache.memory.images.removeAll()
        #expect(try await second.response(for: request).source == .disk)
        #expect(try await fleet.origin.requestCount(for: "/a.png") == 1)
        let name = try #require(try await fleet.redis.valueNames().first)
        let rest = try #require(Int(try await fleet.redis.command("PTTL", name)))
        #expect((1...300_000).contains(rest))
        // The lease has ended.
        try await eventually("number of keys", is: "1") { try await fleet.redis.command("DBSIZE") }
    }

    @Test("L09 C09 the time of a request may shorten that of the shared tier, and does not extend it")
    func ownTime() async throws {
        let week: Int64 = 7 * 24 * 3_600
        for seconds in [10, 52 * week, Int64.max] {
            let fleet = try await Fleet(server: "")
            var request = try fleet.serve("a.png")
            request.cachePolicy.timeToLive = .seconds(seconds)
            _ = try await fleet.makeMachine { $0.freshness = .maximumAge }.image(for: request)
            try await eventually("the value is there") { try await !fleet.redis.valueNames().isEmpty }
            let name = try #require(try await fleet.redis.valueNames().first)
            let rest = try #require(Int64(try await fleet.redis.command("PTTL", name)))
            #expect((1...(min(seconds, week) * 1_000)).contains(rest), "\(seconds)")
        }
    }

    @Test("L09 machines that load the same images at once ask the origin once for each")
    func lease() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let requests = try (0..<40).map { try fleet.serve("\($0).png") }
        let machines = try (0..<8).map { _ in try fleet.makeMachine() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for machine in machines {
                group.addTask {
                    for request in requests.shuffled() { _ = try await machine.image(for: request) }
                }
            }
            try await group.waitForAll()
        }
        let paths = try await fleet.origin.requests().map(\.path)
        #expect(paths.count == 40 && Set(paths).count == 40)
    }

    @Test("L09 responses that depend on what all machines send alike are shared")
    func sharedVariants() async throws {
        let fleet = try await Fleet(
            server: "add_header Cache-Control 'public, s-maxage=60, max-age=300';"
                + " add_header Vary 'Accept, Accept-Encoding';"
        )
        let request = try fleet.serve("a.png")
        #expect(try await fleet.makeMachine().response(for: request).source == .network)
        let other = try fleet.makeMachine { $0.downloads.acceptedTypes = ["image/png"] }
        #expect(try await other.response(for: request).source == .network)
        #expect(try await fleet.makeMachine().response(for: request).source == .shared)
        for name in try await fleet.redis.valueNames() {
            #expect(try #require(Int(try await fleet.redis.command("PTTL", name))) <= 60_000)
        }
    }

    @Test("L09 a damaged, cut or foreign value is never served, and is replaced")
    func damage() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let request = try fleet.serve("a.png"), other = try fleet.serve("b.png", width: 8, height: 8)
        _ = try await fleet.makeMachine().response(for: request)
        let name = try #require(try await fleet.redis.valueNames().first)
        _ = try await fleet.makeMachine().response(for: other)
        let otherName = try #require(try await fleet.redis.valueNames().first { $0 != name })
        let size = try #require(Int(try await fleet.redis.command("STRLEN", name)))
        func copy() async throws { try await fleet.redis.command("COPY", name, "original", "REPLACE") }
        try await copy()
        var damages: [[String]] = [0, size / 3, size - 200, size - 64, size - 30, size - 1].map {
            ["SETRANGE", name, "\($0)", "\u{1}\u{2}"]
        }
        damages += [["APPEND", name, "x"], ["SET", name, "foreign"], ["COPY", otherName, name, "REPLACE"]]
        for damage in damages {
            try await fleet.redis.command("COPY", "original", name, "REPLACE")
            try await fleet.redis.run(damage)
            let response = try await fleet.makeMachine().response(for: request)
            #expect(response.source == .network, "\(damage)")
            #expect(response.image.size == PixelSize(width: 64, height: 48))
            #expect(try await fleet.makeMachine().response(for: request).source == .shared)
        }
        for count in stride(from: 1, to: size, by: size / 7) {
            let script = "return redis.call('SET', KEYS[1], redis.call('GETRANGE', 'original', 0, \(count - 1)))"
            try await fleet.redis.command("EVAL", script, "1", name)
            #expect(try await fleet.makeMachine().response(for: request).source == .network)
        }
    }

    @Test("L09 bytes that are stored whole and yet no image are removed from the tier, and loaded from the origin")
    func brokenImage() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let request = try fleet.serve("a.png")
        _ = try await fleet.makeMachine().response(for: request)
        let tier = try fleet.makeTier(), recorder = RecordingTier(tier)
        _ = try await fleet.makeMachine { $0.sharedTier = recorder }.response(for: request)
        let key = try #require(recorder.keys.first)
        let entry = try SharedEntry.decode(try #require(try await tier.lookUp(key, leasing: nil).value), expecting: key)
        let broken = DiskCache.Entry(key: key, bytes: Array(entry.bytes.prefix(90)), metadata: entry.metadata)
        try await tier.insert(SharedEntry.encode(broken), for: key, timeToLive: .seconds(60))
        let response = try await fleet.makeMachine().response(for: request)
        #expect(response.source == .network && response.image.size.width == 64)
        #expect(try await fleet.makeMachine().response(for: request).source == .shared)
    }

    @Test("L09 a tier that is stopped, killed or not there fails no load")
    func outage() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let requests = try (0..<30).map { try fleet.serve("\($0).png") }
        let machine = try fleet.makeMachine()
        fleet.redis.send(SIGSTOP)
        for request in requests[..<10] { #expect(try await machine.response(for: request).source == .network) }
        await fleet.redis.kill()
        for request in requests[10..<20] { #expect(try await machine.response(for: request).source == .network) }
        try await fleet.redis.restart()
        for request in requests[20...] { _ = try await machine.response(for: request) }
        let absent = try fleet.makeMachine { $0.sharedTier = try? RedisTier(.init(url: "unix:///nonexistent/socket")) }
        #expect(try await absent.response(for: requests[0]).source == .network)
    }

    @Test("L09 one load of a pipeline waits for a stopped server, in three periods of the circuit breaker")
    func stopped() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let url = try fleet.serve("a.png").url, relay = try Relay(to: fleet.redis.port)
        var configuration = try RedisTier.Configuration(url: "redis://127.0.0.1:\(relay.port)")
        (configuration.timeout, configuration.retryInterval) = (.milliseconds(300), .milliseconds(10))
        let tier = try RedisTier(configuration), machine = try fleet.makeMachine { $0.sharedTier = tier }
        let loadCount = LoadCount()
        @Sendable func load() async throws {
            let request = ImageRequest("\(url)?\(loadCount.next())", cachePolicy: .afterStorage)
            #expect(try await machine.response(for: request).source == .network)
        }
        try await load()
        try await fleet.redis.command("CONFIG", "RESETSTAT")
        fleet.redis.send(SIGSTOP)
        // The circuit breaker connects for each of its attempts.
        try await eventually("three attempts") {
            try await load()
            return relay.connectionCount > 3
        }
        fleet.redis.send(SIGCONT)
        // The server performs what it was sent while it was stopped.
        let commands = try await fleet.redis.command("INFO", "commandstats")
        #expect(commands.contains("cmdstat_getrange:calls=1,"), "\(commands)")
        // It is used again as soon as it has responded.
        let other = try fleet.makeMachine()
        var (number, source) = (0, ImageSource.network)
        while source != .shared {
            number -= 1
            let request = ImageRequest("\(url)?\(number)", cachePolicy: .afterStorage)
            _ = try await other.response(for: request)
            source = try await machine.response(for: request).source
        }
    }

    @Test("L09 a failed load leaves no lease behind, and an image that is gone leaves no value behind")
    func failures() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let request = try fleet.serve("a.png")
        await #expect(throws: EideticError.self) {
            try await fleet.makeMachine().image(for: ImageRequest(request.url + "x"))
        }
        #expect(try await fleet.redis.valueNames() == [])
        let machine = try fleet.makeMachine()
        _ = try await machine.image(for: request)
        #expect(try await fleet.redis.valueNames().count == 1)
        try fleet.origin.removeFile(at: "a.png")
        let reload = ImageRequest(request.url, cachePolicy: .reload)
        await #expect(throws: EideticError.self) { try await machine.image(for: reload) }
        #expect(try await fleet.redis.valueNames() == [])
    }

    @Test("L09 a load from caches only finds an image of the tier, and acquires no lease")
    func cacheOnly() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let request = try fleet.serve("a.png"), cached = ImageRequest(request.url, cachePolicy: .cachedOnly)
        let error = await #expect(throws: EideticError.self) { try await fleet.makeMachine().image(for: cached) }
        #expect(error?.code == .cacheMiss)
        #expect(try await fleet.redis.command("DBSIZE") == "0")
        _ = try await fleet.makeMachine().image(for: request)
        #expect(try await fleet.makeMachine().response(for: cached).source == .shared)
    }
}
#endif

/// The number of loads, each of which has a URL of its own.
private final class LoadCount: Sendable {
    private let count = Guarded(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
