import EideticCore
import EideticRedis
import EideticStore
import EideticTestSupport

extension Suite {
    /// Reading from the shared tier.
    static let shared = Suite(
        "shared",
        summary: "reading from a shared tier in Redis, against redis-benchmark with as many commands on their way",
        arguments: ["operations=N  reads of a sample (20000)", "size=N  bytes of a value (20480)"]
    ) { bench in
        #if Redis
        try await measureShared(bench)
        #else
        print("shared: this build has no hiredis; build it with the trait Redis")
        #endif
    }

    #if Redis
    private static let inFlight = 32

    private static func measureShared(_ bench: Bench) async throws {
        let operations = try bench.integer(named: "operations", default: 20_000, quick: 2_000)
        let size = try bench.integer(named: "size", default: 20_480)
        let server = try await RedisProcess()
        var configuration = try RedisTier.Configuration(url: server.url)
        configuration.timeout = .seconds(10)
        let tier = try RedisTier(configuration)
        try await tier.insert([UInt8](repeating: 7, count: size), for: "key", timeToLive: .seconds(3_600))
        guard let name = try await server.valueNames().first else { return }
        let benchmark = BenchmarkCase(
            "read of \(size) bytes, \(inFlight) on their way",
            unit: .microseconds,
            goal: .ratio(1.3)
        )
        try await bench.compare(
            benchmark,
            operations: operations,
            with: "redis-benchmark -P \(inFlight)",
            ours: { try await read("key", times: operations, from: tier) },
            theirs: {
                _ = try await Subprocess.run(
                    "redis-benchmark",
                    arguments: [
                        "-p", "\(server.port)", "-c", "1", "-P", "\(inFlight)", "-n", "\(operations)", "-q", "GET",
                        name,
                    ]
                )
            }
        )
    }

    /// Reads a value many times, 32 reads on their way.
    private static func read(_ key: String, times: Int, from tier: RedisTier) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<inFlight {
                group.addTask {
                    for _ in 0..<(times / inFlight) { blackHole(try await tier.lookUp(key, leasing: nil)) }
                }
            }
            try await group.waitForAll()
        }
    }
    #endif
}
