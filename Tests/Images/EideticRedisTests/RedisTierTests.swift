#if Redis
import EideticCore
import EideticRedis
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Redis tier", .timeLimit(.minutes(2)), .needsRedis)
struct RedisTierTests {
    private static func tier(
        _ url: String,
        change: (inout RedisTier.Configuration) -> Void = { _ in }
    ) throws -> RedisTier {
        var configuration = try RedisTier.Configuration(url: url)
        configuration.timeout = .seconds(10)
        change(&configuration)
        return try RedisTier(configuration)
    }

    @Test("L09 a value is found by another process until its time is over")
    func values() async throws {
        let server = try await RedisProcess()
        let (tier, other) = (try Self.tier(server.url), try Self.tier(server.url))
        let value = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        #expect(try await tier.lookUp("key", leasing: nil) == SharedLookup(value: nil))
        try await tier.insert(value, for: "key", timeToLive: .seconds(60))
        #expect(try await other.lookUp("key", leasing: nil) == SharedLookup(value: value))
        #expect(try await other.lookUp("another key", leasing: nil).value == nil)
        let name = try #require(try await server.valueNames().first)
        let rest = try #require(Int(try await server.command("PTTL", name)))
        #expect((1...60_000).contains(rest))
        try await tier.insert([1], for: "short", timeToLive: .microseconds(999))
        #expect(try await tier.lookUp("short", leasing: nil).value == nil)
        try await tier.insert([2], for: "endless", timeToLive: .seconds(Int64.max))
        #expect(try await tier.lookUp("endless", leasing: nil).value == [2])
    }

    @Test("L09 values up to the limit are stored and read; one byte more is refused, and not read as a whole")
    func limits() async throws {
        let server = try await RedisProcess()
        let tier = try Self.tier(server.url) { $0.valueLimit = ByteCount(1_000) }, large = try Self.tier(server.url)
        for count in [999, 1_000] {
            let value = [UInt8](repeating: 7, count: count)
            try await tier.insert(value, for: "key", timeToLive: .seconds(60))
            #expect(try await tier.lookUp("key", leasing: nil).value == value)
        }
        await #expect(throws: EideticError.self) {
            try await tier.insert([UInt8](repeating: 7, count: 1_001), for: "key", timeToLive: .seconds(60))
        }
        try await large.insert([UInt8](repeating: 7, count: 5_000), for: "key", timeToLive: .seconds(60))
        // It stays for those that may read it.
        #expect(try await tier.lookUp("key", leasing: nil).value == nil)
        #expect(try await large.lookUp("key", leasing: nil).value?.count == 5_000)
    }

    @Test("L09 a value is removed only if it is the one that was read")
    func removal() async throws {
        let server = try await RedisProcess()
        let tier = try Self.tier(server.url)
        try await tier.insert([1, 2, 3], for: "key", timeToLive: .seconds(60))
        try await tier.remove("key", ifEqualTo: [1, 2])
        #expect(try await tier.lookUp("key", leasing: nil).value == [1, 2, 3])
        try await tier.remove("key", ifEqualTo: [1, 2, 3])
        #expect(try await tier.lookUp("key", leasing: nil).value == nil)
        try await tier.insert([4], for: "key", timeToLive: .seconds(60))
        try await tier.remove("key", ifEqualTo: nil)
        #expect(try await tier.lookUp("key", leasing: nil).value == nil)
    }

    @Test("L09 one process holds the lease of a key; released, waived or expired it is no longer held")
    func leases() async throws {
        let server = try await RedisProcess()
        let tier = try Self.tier(server.url), lease = SharedLease(duration: .seconds(60))
        let other = SharedLease(duration: .milliseconds(20))
        #expect(try await tier.lookUp("key", leasing: lease).lease == .granted)
        #expect(try await tier.lookUp("key", leasing: other).lease == .held)
        #expect(try await tier.lookUp("another key", leasing: other).lease == .granted)
        try await tier.update(other, of: "key", to: .released)
        #expect(try await tier.lookUp("key", leasing: other).lease == .held)
        try await tier.update(lease, of: "key", to: .released)
        #expect(try await tier.lookUp("key", leasing: other).lease == .granted)
        // Not renewed, it expires; as soon as that has happened, another process acquires it.
        while try await tier.lookUp("key", leasing: lease).lease != .granted {}
        try await tier.update(lease, of: "key", to: .waived(.seconds(60)))
        #expect(try await tier.lookUp("key", leasing: other).lease == .waived)
        #expect(try await tier.lookUp("key", leasing: lease).lease == .waived)
    }

    @Test("L09 a renewed lease does not expire")
    func renewal() async throws {
        let server = try await RedisProcess()
        let tier = try Self.tier(server.url), lease = SharedLease(duration: .seconds(60))
        #expect(try await tier.lookUp("key", leasing: lease).lease == .granted)
        let name = try #require(try await server.command("KEYS", "*:lease").split(separator: "\n").first).description
        try await server.command("PEXPIRE", name, "30000")
        try await tier.update(lease, of: "key", to: .renewed)
        let rest = try #require(Int(try await server.command("PTTL", name)))
        #expect(rest > 30_000)
    }

    @Test("L09 the holder of a lease sees what the one before has stored")
    func valueAfterLease() async throws {
        let server = try await RedisProcess()
        let tier = try Self.tier(server.url)
        try await tier.insert([9], for: "key", timeToLive: .seconds(60))
        let found = try await tier.lookUp("key", leasing: SharedLease(duration: .seconds(1)))
        #expect(found == SharedLookup(value: [9], lease: .granted))
    }

    @Test("L09 a key of another type is no value, and is replaced")
    func otherType() async throws {
        let server = try await RedisProcess()
        let tier = try Self.tier(server.url)
        try await tier.insert([1], for: "key", timeToLive: .seconds(60))
        let name = try #require(try await server.valueNames().first)
        try await server.command("DEL", name)
        try await server.command("LPUSH", name, "foreign")
        #expect(try await tier.lookUp("key", leasing: nil).value == nil)
        let found = try await tier.lookUp("key", leasing: SharedLease(duration: .seconds(60)))
        #expect(found == SharedLookup(value: nil, lease: .granted))
        try await tier.insert([2], for: "key", timeToLive: .seconds(60))
        #expect(try await tier.lookUp("key", leasing: nil).value == [2])
    }

    @Test("L09 a thousand operations at once share one connection")
    func pipelining() async throws {
        let server = try await RedisProcess()
        let tier = try Self.tier(server.url)
        let found = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1 + number * 13 % 40_000)
                    try await tier.insert(value, for: "\(number)", timeToLive: .seconds(60))
                    return try await tier.lookUp("\(number)", leasing: nil).value == value
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(found == 1_000)
        let clients = try await server.command("INFO", "stats").split(whereSeparator: \.isNewline)
        // One of the tier, and one of redis-cli itself.
        #expect(clients.contains { $0.hasPrefix("total_connections_received:2") })
    }

    @Test("L09 a Unix socket, a password, a user, and a database of its own")
    func access() async throws {
        let server = try await RedisProcess(options: [
            "--requirepass", "se cret", "--user", "fleet", "on", ">pass", "~*", "+@all",
        ])
        for url in [
            "redis://:se%20cret@127.0.0.1:\(server.port)", "redis://fleet:pass@127.0.0.1:\(server.port)/3",
            "unix://fleet:pass@\(server.socket)?db=3", "unix://:se%20cret@\(server.socket)",
        ] {
            let tier = try Self.tier(url)
            try await tier.insert([5], for: url, timeToLive: .seconds(60))
            #expect(try await tier.lookUp(url, leasing: nil).value == [5])
        }
        let first = try Self.tier("redis://fleet:pass@127.0.0.1:\(server.port)")
        #expect(try await first.lookUp("unix://fleet:pass@\(server.socket)?db=3", leasing: nil).value == nil)
        for url in [server.url, "redis://:wrong@127.0.0.1:\(server.port)"] {
            let tier = try Self.tier(url)
            let error = await #expect(throws: EideticError.self) { try await tier.lookUp("key", leasing: nil) }
            #expect(error?.code == .permissionDenied)
        }
    }

    @Test("L09 one operation waits for a stopped server, and then none until it is continued")
    func stopped() async throws {
        let server = try await RedisProcess(), relay = try Relay(to: server.port)
        let tier = try Self.tier("redis://127.0.0.1:\(relay.port)") {
            ($0.timeout, $0.retryInterval) = (.milliseconds(300), .milliseconds(10))
        }
        // A busy server may need longer than the time-out.
        try await eventually("a connection with a value") {
            (try? await tier.insert([1], for: "key", timeToLive: .seconds(600))) != nil
        }
        server.send(SIGSTOP)
        // Three attempts of the circuit breaker on the side, for each of which it connects.
        try await eventually("three attempts") {
            await #expect(throws: EideticError.self) { try await tier.lookUp("key", leasing: nil) }
            return relay.connectionCount > 3
        }
        server.send(SIGCONT)
        // The server performs what it was sent while it was stopped.
        let commands = try await server.command("INFO", "commandstats")
        #expect(commands.contains("cmdstat_getrange:calls=1,"), "\(commands)")
        try await eventually("value", is: [1]) { try? await tier.lookUp("key", leasing: nil).value }
    }

    @Test("L09 a server that is killed and started again is used again")
    func restarted() async throws {
        let server = try await RedisProcess()
        let tier = try Self.tier(server.url) { $0.retryInterval = .milliseconds(50) }
        try await tier.insert([1], for: "key", timeToLive: .seconds(600))
        await server.kill()
        let error = await #expect(throws: EideticError.self) {
            // The first operation may learn that the connection is closed, the second that there is no server.
            _ = try await tier.lookUp("key", leasing: nil)
        }
        #expect([.connectionLost, .connectionRefused].contains(error?.code))
        try await server.restart()
        try await eventually("the tier responds") { (try? await tier.lookUp("key", leasing: nil)) != nil }
        try await tier.insert([2], for: "key", timeToLive: .seconds(600))
        #expect(try await tier.lookUp("key", leasing: nil).value == [2])
    }

    @Test("L09 a cancelled operation ends at once, although the server does not respond")
    func cancellation() async throws {
        let server = try await RedisProcess()
        let tier = try Self.tier(server.url) { $0.timeout = .seconds(600) }
        try await tier.insert([1], for: "key", timeToLive: .seconds(600))
        server.send(SIGSTOP)
        let task = Task { try await tier.lookUp("key", leasing: nil) }
        task.cancel()
        let error = await #expect(throws: EideticError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }
}
#endif
