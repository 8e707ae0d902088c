import EideticCore
import EideticStore
import EideticTestSupport

extension Suite {
    /// How often a cache of some size finds what recorded requests ask for.
    static let hitRatio = Suite(
        "hit-ratio",
        "recorded requests replayed in bytes through the caches' own rules and accounting, and through others'",
        arguments: [
            "trace=NAME  one trace (nasa-img, bu98, tencent10k, web12-photo); all ten cells by default",
            "capacity=BYTES  the size of the cache; needs a trace",
            "tier=memory|disk  whose default rule is replayed; both by default",
        ]
    ) { bench in
        try await HitRatioMeasurement(bench).run()
    }
}

/// One trace and one size of the cache.
private struct Cell {
    let trace: String
    let capacity: Int
    let requests: [Traces.Request]
}

/// Replays cells and reports them.
private struct HitRatioMeasurement {
    /// The traces, and sizes of the cache as parts of the bytes of all objects.
    private static let cells: [(trace: String, parts: [Double])] = [
        ("nasa-img", [0.01, 0.1]), ("bu98", [0.001, 0.01, 0.1]), ("tencent10k", [0.01, 0.1]),
        ("web12-photo", [0.001, 0.01, 0.1]),
    ]
    private static let others: [EvictionRule] = [.leastRecentlyUsed, .s3FIFO, .greedyDualSizeFrequency]

    private let bench: Bench
    private let tiers: [Tier]
    private let trace: String?
    private let capacity: ByteCount?

    /// Whose default rule is replayed.
    private enum Tier: String, CaseIterable {
        case memory, disk

        var rule: EvictionRule { self == .memory ? .memory : .disk }
    }

    init(_ bench: Bench) throws(UsageError) {
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
        guard Traces.directory != nil else {
            throw UsageError(message: "EIDETIC_TRACES does not name a directory of traces")
        }
        let cells = try await cells()
        let rules = tiers.map(\.rule) + Self.others
        let all = cells.map { cell in rules.map { Replay(cell.requests, capacity: cell.capacity, rule: $0) } }
        for (cell, replays) in zip(cells, all) {
            for (rule, replay) in zip(rules, replays) { print(cell, rule, replay) }
        }
        guard trace == nil else { return }
        for (index, rule) in rules.enumerated() { reportMeans(of: all.map { $0[index] }, rule) }
        reportWorst(of: all)
    }

    private func cells() async throws -> [Cell] {
        var cells: [Cell] = []
        for (name, parts) in Self.cells where trace == nil || trace == name {
            let requests = try await Traces.requests(name)
            let sizes = Dictionary(requests.map { ($0.key, $0.size) }, uniquingKeysWith: { first, _ in first })
            let footprint = Double(sizes.values.reduce(0, +))
            let capacities = capacity.map { [$0.bytes] } ?? parts.map { Int(footprint * $0) }
            cells += capacities.map { Cell(trace: name, capacity: $0, requests: requests) }
        }
        guard !cells.isEmpty else { throw UsageError(message: "--trace: no trace \"\(trace ?? "")\"") }
        return cells
    }

    private func print(_ cell: Cell, _ rule: EvictionRule, _ replay: Replay) {
        let place = "\(cell.trace), \(cell.capacity) bytes, \(rule)"
        guard !bench.isJSON else {
            report("\(place): entries found", [replay.objectRatio], nil)
            report("\(place): bytes found", [replay.byteRatio], nil)
            return
        }
        let numbers = "requests \(replay.requests) hits \(replay.hits) bytes \(replay.bytes) hit bytes \(replay.hitBytes)"
        Swift.print("\(place): \(numbers)")
    }

    private func reportMeans(of replays: [Replay], _ rule: EvictionRule) {
        let goals: (objects: Double?, bytes: Double?) =
            rule == .memory ? (nil, 0.27) : rule == .disk ? (0.4, 0.265) : (nil, nil)
        let count = Double(replays.count)
        report("mean, \(rule): entries found", [replays.reduce(0) { $0 + $1.objectRatio } / count], goals.objects)
        report("mean, \(rule): bytes found", [replays.reduce(0) { $0 + $1.byteRatio } / count], goals.bytes)
    }

    /// In which cell the memory rule finds least, compared with LRU.
    private func reportWorst(of cells: [[Replay]]) {
        guard tiers.first == .memory else { return }
        let lru = tiers.count
        let differences = cells.map { $0[0].objectRatio - $0[lru].objectRatio }
        report("memory: entries found more than by lru, least of all cells", [differences.min() ?? 0], -0.01)
    }

    private func report(_ name: String, _ values: [Double], _ goal: Double?) {
        let kase = Case(name, .fraction, better: .higher, goal: goal.map { .value($0) })
        bench.report(kase, Samples(values: values))
    }
}

/// The requests of a trace, replayed through a memory cache with a rule.
private struct Replay {
    private(set) var requests = 0
    private(set) var hits = 0
    private(set) var bytes = 0
    private(set) var hitBytes = 0

    init(_ trace: [Traces.Request], capacity: Int, rule: EvictionRule) {
        let cache = MemoryCache<Bool>(costLimit: ByteCount(capacity), eviction: rule)
        for request in trace {
            let key = CacheKey("\(request.key)")
            requests += 1
            bytes += request.size
            if cache.value(for: key) == nil {
                cache.insert(true, for: key, cost: ByteCount(request.size))
            } else {
                hits += 1
                hitBytes += request.size
            }
        }
    }

    var objectRatio: Double { Double(hits) / Double(max(1, requests)) }

    var byteRatio: Double { Double(hitBytes) / Double(max(1, bytes)) }
}
