#if Redis
import EideticCore
import EideticRedis
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Faults of Redis servers", .timeLimit(.minutes(2)), .needsRedis)
struct RedisFaultTests {
    private static func tier(
        _ url: String,
        timeout: Duration = .seconds(10),
        retryInterval: Duration = .seconds(600)
    ) throws -> RedisTier {
        var configuration = try RedisTier.Configuration(url: url)
        (configuration.timeout, configuration.retryInterval) = (timeout, retryInterval)
        configuration.valueLimit = .mebibytes(1)
        return try RedisTier(configuration)
    }

    @Test(
        "L09 malformed, incomplete and endless replies are errors, and cost one connection each",
        arguments: [
            "$1000000000000\r\n", "$536870912\r\n", "$-2\r\n", "*-7\r\n", "*99999999999\r\n",
            "garbage\r\n",
            "\r\n", ":x\r\n", String(repeating: "*1\r\n", count: 100), "\0\0\0\0",
        ]
    )
    func malformed(reply: String) async throws {
        let filler = String(repeating: "x", count: 100_000)
        let server = try ScriptedRedis { command in
            command[1].contains(":\(DiskCache.Entry.formatVersion):{") && command[0] == "GETRANGE"
                ? .sendEndlessly(reply + filler) : .send("")
        }
        let tier = try Self.tier(server.url)
        for _ in 0..<3 {
            let error = await #expect(throws: EideticError.self) { try await tier.lookUp("key", leasing: nil) }
            #expect([.badResponse, .connectionLost].contains(error?.code), "\(String(describing: error))")
        }
        #expect(server.connectionCount == 3)
    }

    @Test("L09 of eight arrays within each other none is read, whatever the version of hiredis")
    func depth() async throws {
        func lookUp(depth: Int) async throws {
            let reply = String(repeating: "*1\r\n", count: depth) + ":1\r\n"
            let server = try ScriptedRedis { command in command[0] == "GETRANGE" ? .send(reply) : .send("") }
            _ = try await Self.tier(server.url).lookUp("key", leasing: nil)
        }
        try await lookUp(depth: 7)
        let error = await #expect(throws: EideticError.self) { try await lookUp(depth: 8) }
        #expect(error?.code == .badResponse && error?.message.contains("too deeply") == true)
    }

    @Test(
        "L09 a reply that is no lease holds up no load, whatever the server says of it",
        arguments: [
            "+OK", "$2\r\nOK", "$-1", ":1", "*0", "$0\r\n", "$6\r\nlease:", "$8\r\nlease:OK", "$1\r\n-",
        ]
    )
    func noLease(reply: String) async throws {
        let server = try ScriptedRedis { _ in .send(reply + "\r\n") }
        let lease = SharedLease(duration: .seconds(60))
        #expect(try await Self.tier(server.url).lookUp("key", leasing: lease).lease == .waived)
    }

    @Test(
        "L09 a reply that is cut is an error, and the connection is made again",
        arguments: ["", "$", "$5\r\nab", "$5\r\nabcde", "$5\r\nabcde\r"]
    )
    func cut(reply: String) async throws {
        let server = try ScriptedRedis { _ in .sendAndClose(reply) }
        let tier = try Self.tier(server.url)
        for number in 1...3 {
            let error = await #expect(throws: EideticError.self) { try await tier.lookUp("key", leasing: nil) }
            #expect(error?.code == .connectionLost)
            #expect(server.connectionCount == number)
        }
    }

    @Test("L09 a reply that stops in the middle costs one time-out, and no further operation waits")
    func stopsWithinReply() async throws {
        let server = try ScriptedRedis { _ in .send("$500\r\nabc") }
        let tier = try Self.tier(server.url, timeout: .milliseconds(300))
        for _ in 0..<100 {
            let error = await #expect(throws: EideticError.self) { try await tier.lookUp("key", leasing: nil) }
            #expect(error?.code == .timedOut)
        }
        // Each start of a reply may be late, but three time-outs after the first the server counts as silent.
        #expect((1...4).contains(server.commands.count))
    }

    @Test(
        "L09 errors of a server fail the operation with their text, and neither the connection nor other operations",
        arguments: ["LOADING x", "READONLY x", "OOM x", "CLUSTERDOWN x", "CROSSSLOT x", "TRYAGAIN", "MOVED x", "ERR"]
    )
    func errors(text: String) async throws {
        let server = try ScriptedRedis { command in
            .send(command[0] == "SET" ? "-\(text)\r\n" : "$3\r\nabc\r\n")
        }
        let tier = try Self.tier(server.url)
        for _ in 0..<3 {
            let error = await #expect(throws: EideticError.self) {
                try await tier.lookUp("key", leasing: SharedLease(duration: .seconds(1)))
            }
            #expect(error?.code == .cacheUnavailable && error?.message.contains(text) == true)
            #expect(try await tier.lookUp("key", leasing: nil).value == Array("abc".utf8))
        }
        #expect(server.connectionCount == 1)
    }

    @Test("L09 redirections without an end fail", arguments: ["ASK", "MOVED"])
    func redirectionLoop(kind: String) async throws {
        let port = Guarded(0)
        let server = try ScriptedRedis { command in
            if command[0] == "ASKING" { return .send("+OK\r\n") }
            return .send("-\(kind) 5 127.0.0.1:\(port.withLock { $0 })\r\n")
        }
        port.withLock { $0 = server.port }
        let tier = try Self.tier(server.url)
        let error = await #expect(throws: EideticError.self) { try await tier.lookUp("key", leasing: nil) }
        #expect(error?.code == .cacheUnavailable)
        #expect(server.commands.count { $0[0] == "GETRANGE" } == 6)
    }

    @Test("L09 a redirection to a server that does not respond costs one time-out")
    func redirectionToStoppedServer() async throws {
        let stopped = try ScriptedRedis { _ in .send("") }
        let server = try ScriptedRedis { command in .send("-MOVED 5 127.0.0.1:\(stopped.port)\r\n") }
        let tier = try Self.tier(server.url, timeout: .milliseconds(200))
        for _ in 0..<50 {
            let error = await #expect(throws: EideticError.self) { try await tier.lookUp("key", leasing: nil) }
            #expect(error?.code == .timedOut)
        }
        // A second one may be sent just after the first has failed, if the connection was slow to come.
        #expect((1...2).contains(stopped.commands.count { $0[0] == "GETRANGE" }))
    }

    @Test("L09 a server that is busy sending for longer than an operation may take is not left alone")
    func busyServer() async throws {
        let (isEnding, hasEnded, count) = (Flag(), Flag(), Counter())
        // Each command has the server send a piece of the first value.
        let server = try ScriptedRedis { _ in
            let number = count.next()
            if number == 1 { return .send("$1000000\r\nxxx") }
            // A command that was on its way at the end comes after it.
            if hasEnded.isSet { return .send("$1\r\na\r\n") }
            guard isEnding.isSet else { return .send("xxx") }
            hasEnded.set()
            let rest = String(repeating: "x", count: 1_000_000 - 3 * (number - 1))
            return .send(rest + "\r\n" + String(repeating: "$1\r\na\r\n", count: number - 1))
        }
        let tier = try Self.tier(server.url, timeout: .seconds(1)), hasFailed = Flag()
        let first = Task {
            defer { hasFailed.set() }
            return try await tier.lookUp("key", leasing: nil)
        }
        var others: [Task<SharedLookup?, Never>] = []
        try await eventually("the first operation has failed") {
            // Each is sent after the server has received the one before, and sends a piece for it.
            if count.value > others.count { others.append(Task { try? await tier.lookUp("other key", leasing: nil) }) }
            return hasFailed.isSet
        }
        let error = await #expect(throws: EideticError.self) { try await first.value }
        #expect(error?.code == .timedOut)
        isEnding.set()
        #expect(try await tier.lookUp("other key", leasing: nil).value == Array("a".utf8))
        var found: [[UInt8]?] = []
        for other in others { found.append(await other.value?.value) }
        #expect(found.contains(Array("a".utf8)))
        #expect(server.connectionCount == 1)
    }

    @Test("L09 many large values are sent in time linear in their size")
    func largeInserts() async throws {
        let server = try await RedisProcess(), tier = try Self.tier(server.url)
        let value = [UInt8](repeating: 7, count: 1 << 20)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask { try await tier.insert(value, for: "\(number)", timeToLive: .seconds(600)) }
            }
            try await group.waitForAll()
        }
        #expect(try await server.command("DBSIZE") == "300")
    }

    @Test("L09 a replica, a full server and one that has forgotten its clients are misses, and no outage")
    func refusals() async throws {
        // Its replicas are not kept waiting for others.
        let server = try await RedisProcess(options: ["--repl-diskless-sync-delay", "0"])
        let full = try await RedisProcess()
        let replica = try await RedisProcess(options: ["--replicaof", "127.0.0.1", "\(server.port)"])
        try await Self.tier(server.url).insert([1], for: "key", timeToLive: .seconds(600))
        try await eventually("number of keys of the replica", is: "1") { try await replica.command("DBSIZE") }
        try await Self.tier(full.url).insert([1], for: "key", timeToLive: .seconds(600))
        try await full.command("CONFIG", "SET", "maxmemory", "1")
        for url in [replica.url, full.url] {
            let tier = try Self.tier(url), lease = SharedLease(duration: .seconds(1))
            await #expect(throws: EideticError.self) { try await tier.lookUp("key", leasing: lease) }
            await #expect(throws: EideticError.self) {
                try await tier.insert([2], for: "key", timeToLive: .seconds(60))
            }
            #expect(try await tier.lookUp("key", leasing: nil).value == [1])
        }
    }

    @Test("L09 programs that the process starts do not inherit the connection")
    func inheritance() async throws {
        let server = try await RedisProcess(), tier = try Self.tier(server.url)
        _ = try await tier.lookUp("key", leasing: nil)
        let descriptors = (0..<1_024).filter { Self.peerPort(of: Int32($0)) == server.port }
        #expect(descriptors.count == 1)
        for descriptor in descriptors { #expect(fcntl(Int32(descriptor), F_GETFD) & FD_CLOEXEC != 0) }
    }

    /// Returns the port at the other end of a connection.
    private static func peerPort(of descriptor: Int32) -> Int? {
        var address = sockaddr_in(), length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return result == 0 && address.sin_family == sa_family_t(AF_INET)
            ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
}

/// A value that becomes true once.
private final class Flag: Sendable {
    private let state = Guarded(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}

/// A number that increases.
private final class Counter: Sendable {
    private let state = Guarded(0)
    var value: Int { state.withLock { $0 } }

    /// Returns the next number, from 1.
    func next() -> Int {
        state.withLock { number in
            number += 1
            return number
        }
    }
}
#endif
