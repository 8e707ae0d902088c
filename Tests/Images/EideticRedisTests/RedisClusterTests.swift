#if Redis
import EideticCore
import EideticRedis
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Redis cluster", .timeLimit(.minutes(5)), .needsRedis)
struct RedisClusterTests {
    /// A real cluster of three nodes.
    private struct Cluster {
        let nodes: [RedisProcess]

        init() async throws {
            var nodes: [RedisProcess] = []
            for _ in 0..<3 { nodes.append(try await RedisProcess(isNode: true)) }
            self.nodes = nodes
            let addresses = nodes.map { "127.0.0.1:\($0.port)" }
            let created = try await Subprocess.run(
                "redis-cli",
                arguments: ["--cluster", "create"] + addresses + ["--cluster-yes"]
            )
            guard created.status == .exited(0) else {
                throw EideticError(.notFound, message: "no cluster: \(created.outputText)\(created.errorText)")
            }
            for node in nodes {
                try await eventually("the cluster is ready") {
                    try await node.command("CLUSTER", "INFO").contains("cluster_state:ok")
                }
            }
        }

        func tier() throws -> RedisTier {
            // One node is known; it names the others.
            var configuration = try RedisTier.Configuration(url: nodes[0].url)
            configuration.timeout = .seconds(10)
            return try RedisTier(configuration)
        }

        /// Moves slots from the first node to the second one.
        func reshard(slots: Int) async throws -> Bool {
            let ids = [try await nodes[0].command("CLUSTER", "MYID"), try await nodes[1].command("CLUSTER", "MYID")]
            let result = try await Subprocess.run(
                "redis-cli",
                arguments: [
                    "--cluster", "reshard", "127.0.0.1:\(nodes[0].port)", "--cluster-from", ids[0], "--cluster-to",
                    ids[1],
                    "--cluster-slots", "\(slots)", "--cluster-yes",
                ]
            )
            return result.status == .exited(0)
        }
    }

    @Test("L09 values and leases are found on the node that has their slot")
    func slots() async throws {
        let cluster = try await Cluster(), tier = try cluster.tier(), other = try cluster.tier()
        let lease = SharedLease(duration: .seconds(60))
        for number in 0..<300 {
            try await tier.insert([UInt8(number % 251)], for: "\(number)", timeToLive: .seconds(600))
            let found = try await other.lookUp("\(number)", leasing: lease)
            #expect(found == SharedLookup(value: [UInt8(number % 251)], lease: .granted))
            try await other.update(lease, of: "\(number)", to: .released)
        }
        for node in cluster.nodes {
            #expect(try #require(Int(try await node.command("DBSIZE"))) > 50)
        }
        #expect(try await tier.removeAll() == 300)
        for node in cluster.nodes { #expect(try await node.command("DBSIZE") == "0") }
    }

    @Test("L09 the slot of a key is the one that the server computes")
    func keySlots() async throws {
        let server = try await RedisProcess(isNode: true)
        for key in ["123456789", "a{bar}", "a{}b", "{{bar}}", "{bar}{foo}", "a{b", "}a{b}", "", "ü{ß}"] {
            #expect(KeySlot.slot(of: key) == Int(try await server.command("CLUSTER", "KEYSLOT", key)), "\(key)")
        }
        #expect(KeySlot.slot(of: "123456789") == 0x31c3)
    }

    @Test("L09 slots are moved to another node under load: no operation fails, and no value is lost")
    func resharding() async throws {
        let cluster = try await Cluster(), tier = try cluster.tier()
        for number in 0..<500 {
            try await tier.insert([UInt8(number % 251)], for: "\(number)", timeToLive: .seconds(600))
        }
        let isMoved = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let isDone = try await cluster.reshard(slots: Torture.repetitions(500, full: 1_500))
                #expect(isDone)
                isMoved.set()
            }
            for worker in 0..<4 {
                group.addTask {
                    var number = worker
                    while !isMoved.isSet {
                        number = (number + 7) % 500
                        #expect(try await tier.lookUp("\(number)", leasing: nil).value == [UInt8(number % 251)])
                        try await tier.insert([1], for: "\(worker) \(number)", timeToLive: .seconds(600))
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<500 {
            #expect(try await tier.lookUp("\(number)", leasing: nil).value == [UInt8(number % 251)])
        }
    }

    /// A value that becomes true once.
    private final class Flag: Sendable {
        private let state = Guarded(false)
        var isSet: Bool { state.withLock { $0 } }
        func set() { state.withLock { $0 = true } }
    }

    @Test("L09 a node that is killed fails the operations on its slots only")
    func killedNode() async throws {
        let cluster = try await Cluster(), tier = try cluster.tier()
        for node in cluster.nodes { try await node.command("CONFIG", "SET", "cluster-require-full-coverage", "no") }
        for number in 0..<100 { try await tier.insert([1], for: "\(number)", timeToLive: .seconds(600)) }
        let lost = try #require(Int(try await cluster.nodes[2].command("DBSIZE")))
        await cluster.nodes[2].kill()
        var found = 0
        for number in 0..<100 where (try? await tier.lookUp("\(number)", leasing: nil).value) == [1] { found += 1 }
        #expect(found == 100 - lost)
    }
}
#endif
