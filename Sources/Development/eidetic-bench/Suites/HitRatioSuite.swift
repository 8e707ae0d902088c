import EideticCore
import EideticReplay
import EideticTestSupport

extension Suite {
    /// The hit ratios of caches on recorded requests.
    static let hitRatio = Suite(
        "hit-ratio",
        summary:
            "hit ratios on recorded requests, of the caches' own eviction policies and of others",
        arguments: [
            "trace=TRACE  a file of \"key,size\" lines, also packed by xz, or the name of one in EIDETIC_TRACES (nasa-img, "
                + "bu98, tencent10k, web12-photo); all ten cells by default",
            "capacity=BYTES  the size of the cache; a hundredth and a tenth of all objects by default; needs a trace",
            "tier=memory|disk  the cache whose default policy is replayed; both by default",
        ],
        positional: "trace"
    ) { bench in
        try await HitRatioMeasurement(bench: bench).run()
    }
}

/// A trace and a size of the cache.
private struct Scenario {
    let trace: String
    let capacity: Int
    let requests: [Traces.Request]
}

/// The cache whose default policy is replayed.
private enum Tier: String, CaseIterable {
    case memory, disk
}

/// A cache that replays the requests of a scenario.
private enum CacheModel {
    /// A cache with its own accounting and default policy.
    case tier(Tier)
    /// A memory cache with another policy.
    case policy(ReplayPolicy)

    var name: String {
        switch self {
        case .tier(let tier): "\(tier)"
        case .policy(let policy): "\(policy)"
        }
    }

    /// Returns a function that looks up an entry, inserts it on a miss, and returns `true` on a hit.
    func makeLookup(capacity: Int) -> (CacheKey, Int) -> Bool {
        switch self {
        case .tier(.disk):
            var replay = DiskCacheSimulator(capacity: capacity)
            return { replay.request($0, size: $1) }
        case .tier(.memory): return MemoryCacheSimulator(capacity: capacity, policy: .mostBytes).request
        case .policy(let policy): return MemoryCacheSimulator(capacity: capacity, policy: policy).request
        }
    }
}

/// Replays all scenarios and reports the hit ratios.
private struct HitRatioMeasurement {
    /// The traces by name, and cache sizes as fractions of the bytes of all objects.
    private static let knownTraces: [(trace: String, parts: [Double])] = [
        ("nasa-img", [0.01, 0.1]), ("bu98", [0.001, 0.01, 0.1]), ("tencent10k", [0.01, 0.1]),
        ("web12-photo", [0.001, 0.01, 0.1]),
    ]
    private static let comparedPolicies: [ReplayPolicy] = [
        .leastRecentlyUsed, .s3FIFO, .greedyDualSizeFrequency, .mostEntries,
    ]

    private let bench: Bench
    private let tiers: [Tier]
    private let trace: String?
    private let capacity: ByteCount?

    init(bench: Bench) throws(UsageError) {
        self.bench = bench
        trace = bench.arguments["trace"]
        if let text = bench.arguments["tier"] {
            guard let tier = Tier(rawValue: text) else { throw UsageError(message: "--tier: memory or disk") }
            tiers = [tier]
        } else {
            tiers = Tier.allCases
        }
        guard let text = bench.arguments["capacity"] else {
            capacity = nil
            return
        }
        guard trace != nil, let bytes = ByteCount(parsing: text) else {
            throw UsageError(message: "--capacity: a size such as 20MB, with --trace")
        }
        capacity = bytes
    }

    func run() async throws {
        guard Traces.directory != nil || isFile else {
            return printError("hit-ratio: skipped: EIDETIC_TRACES does not name a directory of traces")
        }
        let scenarios = try await loadScenarios()
        let models = tiers.map { CacheModel.tier($0) } + Self.comparedPolicies.map { .policy($0) }
        let results = scenarios.map { scenario in
            models.map {
                ReplayResult(replaying: scenario.requests, through: $0.makeLookup(capacity: scenario.capacity))
            }
        }
        for (scenario, scenarioResults) in zip(scenarios, results) {
            for (model, result) in zip(models, scenarioResults) { print(scenario, model: model.name, result: result) }
        }
        guard trace == nil else { return }
        for (index, model) in models.enumerated() { reportMeans(of: results.map { $0[index] }, model: model) }
        reportLargestLoss(of: results)
    }

    /// A Boolean value indicating whether the argument is a file instead of the name of a known trace.
    private var isFile: Bool { trace.map { trace in !Self.knownTraces.contains { $0.trace == trace } } ?? false }

    private func loadScenarios() async throws -> [Scenario] {
        if let trace, isFile {
            return try makeScenarios(
                trace: trace,
                parts: [0.01, 0.1],
                requests: try await Traces.requests(inFile: trace)
            )
        }
        var scenarios: [Scenario] = []
        for (name, parts) in Self.knownTraces where trace == nil || trace == name {
            scenarios += try self.makeScenarios(
                trace: name,
                parts: parts,
                requests: try await Traces.requests(ofTrace: name)
            )
        }
        return scenarios
    }

    private func makeScenarios(trace name: String, parts: [Double], requests: [Traces.Request]) throws -> [Scenario] {
        guard !requests.isEmpty else { throw UsageError(message: "no requests in \(name)") }
        let sizes = Dictionary(requests.map { ($0.key, $0.size) }, uniquingKeysWith: { first, _ in first })
        let footprint = Double(sizes.values.reduce(0, +))
        let capacities = capacity.map { [$0.bytes] } ?? parts.map { Int(footprint * $0) }
        return capacities.map { Scenario(trace: name, capacity: $0, requests: requests) }
    }

    private func print(_ cell: Scenario, model name: String, result replay: ReplayResult) {
        let prefix = "\(cell.trace), \(cell.capacity) bytes, \(name)"
        let numbers = [
            ("requests", replay.requests, BenchmarkCase.Unit.count), ("hits", replay.hits, .count),
            ("bytes", replay.bytes, .bytes), ("hit bytes", replay.hitBytes, .bytes),
        ]
        guard bench.isJSON else {
            let text = numbers.map { "\($0.0) \($0.1)" }.joined(separator: " ")
            return Swift.print("\(prefix): \(text)")
        }
        for (name, number, unit) in numbers {
            bench.report(
                BenchmarkCase("\(prefix): \(name)", unit: unit, better: .higher),
                samples: Samples(values: [Double(number)])
            )
        }
        report("\(prefix): entries found", values: [replay.objectRatio], goal: nil)
        report("\(prefix): bytes found", values: [replay.byteRatio], goal: nil)
    }

    private func reportMeans(of replays: [ReplayResult], model player: CacheModel) {
        let goals: (objects: Double?, bytes: Double?) =
            switch player {
            case .tier(.memory): (nil, 0.27)
            case .tier(.disk): (0.4, 0.265)
            case .policy: (nil, nil)
            }
        let count = Double(replays.count)
        report(
            "mean, \(player.name): entries found",
            values: [replays.reduce(0) { $0 + $1.objectRatio } / count],
            goal: goals.objects
        )
        report(
            "mean, \(player.name): bytes found",
            values: [replays.reduce(0) { $0 + $1.byteRatio } / count],
            goal: goals.bytes
        )
    }

    /// Reports the memory cache's smallest gain over LRU among all scenarios.
    private func reportLargestLoss(of cells: [[ReplayResult]]) {
        guard tiers.first == .memory else { return }
        let lru = tiers.count
        let differences = cells.map { $0[0].objectRatio - $0[lru].objectRatio }
        report(
            "memory: entries found more than by lru, least of all cells",
            values: [differences.min() ?? 0],
            goal: -0.01
        )
    }

    private func report(_ name: String, values: [Double], goal: Double?) {
        let benchmark = BenchmarkCase(name, unit: .fraction, better: .higher, goal: goal.map { .value($0) })
        bench.report(benchmark, samples: Samples(values: values))
    }
}

/// The hits and bytes of a trace that was replayed through a cache.
private struct ReplayResult {
    private(set) var requests = 0
    private(set) var hits = 0
    private(set) var bytes = 0
    private(set) var hitBytes = 0

    init(replaying trace: [Traces.Request], through isHit: (CacheKey, Int) -> Bool) {
        for request in trace {
            requests += 1
            bytes += request.size
            guard isHit(CacheKey(request.key), request.size) else { continue }
            hits += 1
            hitBytes += request.size
        }
    }

    var objectRatio: Double { Double(hits) / Double(max(1, requests)) }

    var byteRatio: Double { Double(hitBytes) / Double(max(1, bytes)) }
}
