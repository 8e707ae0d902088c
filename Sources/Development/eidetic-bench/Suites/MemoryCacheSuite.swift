import EideticCore
import EideticStore
import EideticTestSupport
import Foundation

extension Suite {
    /// The cost of lookups and insertions in the memory cache.
    static let memoryCache = Suite(
        "memory-cache",
        summary:
            "hits, misses and insertions against a bare locked table, a locked Dictionary and Foundation's NSCache",
        arguments: ["entries=NUMBER  the number of cached values (default: 4096)"]
    ) { bench in
        let measurement = MemoryCacheMeasurement(entries: try bench.integer(named: "entries", default: 4_096))
        await measurement.measureHits(with: bench)
        await measurement.measureStringHits(with: bench)
        await measurement.measureThreads(with: bench)
        await measurement.measureMisses(with: bench)
        await measurement.measureInsertions(with: bench)
    }
}

/// A cached value: a reference, as in NSCache.
private final class Value: Sendable {}

/// The same operations on the memory cache and on its baselines.
private struct MemoryCacheMeasurement {
    private static let operations = 200_000

    private let texts: [String]
    private let keys: [CacheKey]
    private let missing: [CacheKey]
    private let cache: MemoryCache<Value>
    private let bare = BareTable<Value>()
    private let dictionary = LockedDictionary<Value>()
    private let foundation = FoundationCache()
    private let order: [Int]

    init(entries: Int) {
        texts = (0..<entries).map {
            "https://images01.example.org/albums/2026/holiday/large/IMG_\(1_000_000 + $0).jpeg"
        }
        keys = texts.map { CacheKey($0) }
        missing = (0..<entries).map { CacheKey("missing \($0)") }
        cache = MemoryCache(costLimit: .mebibytes(1_024))
        var random = SplitMix(state: 1)
        order = (0..<Self.operations).map { _ in Int(random.next() % UInt64(entries)) }
        for (text, key) in zip(texts, keys) {
            let value = Value()
            cache.insert(value, for: key, cost: 1_000)
            bare.insert(value, for: key)
            dictionary.insert(value, for: text)
            foundation.insert(value, for: text as NSString, cost: 1_000)
        }
    }

    func measureHits(with bench: Bench) async {
        await bench.compare(
            BenchmarkCase("hit, prepared key", unit: .nanoseconds, goal: .ratio(1.3)),
            operations: Self.operations,
            with: "bare lock + open addressing",
            ours: { lookUp { cache.value(for: keys[$0]) } },
            theirs: { lookUp { bare.value(for: keys[$0]) } }
        )
        let prepared = texts.map { $0 as NSString }
        await bench.compare(
            BenchmarkCase("hit, prepared key, NSCache", unit: .nanoseconds, goal: .ratio(0.06)),
            operations: Self.operations,
            with: "NSCache with prepared NSString",
            ours: { lookUp { cache.value(for: keys[$0]) } },
            theirs: { lookUp { foundation.value(for: prepared[$0]) } }
        )
    }

    func measureStringHits(with bench: Bench) async {
        await bench.compare(
            BenchmarkCase("hit from a String", unit: .nanoseconds, goal: .ratio(0.75)),
            operations: Self.operations,
            with: "Mutex + Dictionary<String, …>",
            ours: { lookUp { cache.value(for: CacheKey(texts[$0])) } },
            theirs: { lookUp { dictionary.value(for: texts[$0]) } }
        )
    }

    /// Measures the throughput of two threads against that of one.
    func measureThreads(with bench: Bench) async {
        let runs = makeRuns(threads: 2)
        await bench.compare(
            BenchmarkCase("hits a second with 2 threads", unit: .perSecond, better: .higher, goal: .ratio(1.7)),
            operations: 2 * Self.operations * 5,
            with: "1 thread",
            ours: { DispatchQueue.concurrentPerform(iterations: 2) { runs[$0].perform(times: 5) } },
            theirs: { runs[0].perform(times: 10) }
        )
    }

    func measureMisses(with bench: Bench) async {
        let prepared = missing.map { $0.hexadecimal as NSString }
        await bench.compare(
            BenchmarkCase("miss", unit: .nanoseconds, goal: .ratio(0.2)),
            operations: Self.operations,
            with: "NSCache with prepared NSString",
            ours: { lookUp { cache.value(for: missing[$0]) } },
            theirs: { lookUp { foundation.value(for: prepared[$0]) } }
        )
    }

    func measureInsertions(with bench: Bench) async {
        let count = 20_000
        let fresh = (0..<count * 2).map { CacheKey("fresh \($0)") }
        let prepared = fresh.map { $0.hexadecimal as NSString }
        let full = MemoryCache<Value>(costLimit: ByteCount(keys.count * 1_000))
        let theirs = FoundationCache(costLimit: keys.count * 1_000)
        for number in 0..<keys.count {
            full.insert(Value(), for: keys[number], cost: 1_000)
            theirs.insert(Value(), for: texts[number] as NSString, cost: 1_000)
        }
        var round = (ours: 0, theirs: 0)
        await bench.compare(
            BenchmarkCase("insertion with eviction", unit: .nanoseconds, goal: .ratio(0.15)),
            operations: count,
            with: "NSCache with prepared NSString",
            ours: {
                let start = count * (round.ours % 2)
                for number in start..<start + count { full.insert(Value(), for: fresh[number], cost: 1_000) }
                round.ours += 1
            },
            theirs: {
                let start = count * (round.theirs % 2)
                for number in start..<start + count { theirs.insert(Value(), for: prepared[number], cost: 1_000) }
                round.theirs += 1
            }
        )
    }

    @inline(__always)
    private func lookUp<Found>(_ body: (Int) -> Found?) {
        var found = 0
        for index in order where body(index) != nil { found += 1 }
        blackHole(found)
    }

    /// Creates a run for each thread, with its own order of keys, so that threads share only the cache.
    private func makeRuns(threads: Int) -> [ReaderRun] {
        (0..<threads).map { thread in
            ReaderRun(cache: cache, keys: order.indices.map { keys[order[($0 + thread * 7_919) % order.count]] })
        }
    }

    private final class ReaderRun: Sendable {
        private let cache: MemoryCache<Value>
        private let keys: [CacheKey]

        init(cache: MemoryCache<Value>, keys: [CacheKey]) {
            self.cache = cache
            self.keys = keys
        }

        func perform(times: Int) {
            let cache = cache
            var found = 0
            for _ in 0..<times {
                for key in keys where cache.value(for: key) != nil { found += 1 }
            }
            blackHole(found)
        }
    }
}
