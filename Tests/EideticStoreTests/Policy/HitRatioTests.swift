import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Hit ratios on recorded traces", .needsTraces, .timeLimit(.minutes(3)))
struct HitRatioTests {
    /// A trace, and the cache's size as a part of all its objects' bytes.
    private static let cells: [(trace: String, parts: [Double])] = [
        ("nasa-img", [0.01, 0.1]), ("bu98", [0.001, 0.01, 0.1]), ("tencent10k", [0.01, 0.1]),
        ("web12-photo", [0.001, 0.01, 0.1]),
    ]

    private struct Ratio {
        var objects = 0.0
        var bytes = 0.0
    }

    /// Asks a memory cache for an entry, and puts it in where it is not there.
    private func memoryLookup(capacity: Int, rule: EvictionRule) -> (CacheKey, Int) -> Bool {
        let cache = MemoryCache<Bool>(costLimit: ByteCount(capacity), eviction: rule)
        return { key, size in
            if cache.value(for: key) != nil { return true }
            cache.insert(true, for: key, cost: ByteCount(size))
            return false
        }
    }

    private func replay(_ requests: [Traces.Request], isHit: (CacheKey, Int) -> Bool) -> Ratio {
        var hits = (objects: 0, bytes: 0)
        for request in requests where isHit(CacheKey(request.key), request.size) {
            hits = (hits.objects + 1, hits.bytes + request.size)
        }
        let bytes = requests.reduce(0) { $0 + $1.size }
        return Ratio(
            objects: Double(hits.objects) / Double(requests.count),
            bytes: Double(hits.bytes) / Double(bytes)
        )
    }

    /// The memory's default, LRU in memory, and the disk's order, in each cell.
    private func ratios() async throws -> [[Ratio]] {
        var all: [[Ratio]] = []
        for (trace, parts) in Self.cells {
            let requests = try await Traces.requests(ofTrace: trace)
            let sizes = Dictionary(requests.map { ($0.key, $0.size) }, uniquingKeysWith: { first, _ in first })
            let footprint = sizes.values.reduce(0, +)
            for part in parts {
                let capacity = Int(Double(footprint) * part)
                var disk = DiskCacheSimulator(capacity: capacity)
                all.append([
                    replay(requests, isHit: memoryLookup(capacity: capacity, rule: .mostBytes)),
                    replay(requests, isHit: memoryLookup(capacity: capacity, rule: .leastRecentlyUsed)),
                    replay(requests) { disk.request($0, size: $1) },
                ])
            }
        }
        return all
    }

    @Test("C01 C10 the default rules find what they promise, and LRU what others found with it")
    func defaultsReachTargets() async throws {
        let cells = try await ratios()
        func mean(rule: Int, ratio part: KeyPath<Ratio, Double>) -> Double {
            cells.reduce(0) { $0 + $1[rule][keyPath: part] } / Double(cells.count)
        }
        #expect(cells.count == 10)
        #expect(mean(rule: 0, ratio: \.bytes) >= 0.279)
        #expect(cells.allSatisfy { $0[0].objects >= $0[1].objects - 0.01 })
        #expect(abs(mean(rule: 1, ratio: \.objects) - 0.3445) < 0.0005)
        #expect(abs(mean(rule: 1, ratio: \.bytes) - 0.2531) < 0.0005)
        #expect(mean(rule: 2, ratio: \.objects) >= 0.405)
        #expect(mean(rule: 2, ratio: \.bytes) >= 0.265)
    }
}
