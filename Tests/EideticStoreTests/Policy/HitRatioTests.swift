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

    private func replay(_ requests: [Traces.Request], _ capacity: Int, _ rule: EvictionRule) -> Ratio {
        let cache = MemoryCache<Int>(costLimit: ByteCount(capacity), eviction: rule)
        var hits = (objects: 0, bytes: 0)
        for request in requests {
            let key = CacheKey("\(request.key)")
            if cache.value(for: key) != nil {
                hits = (hits.objects + 1, hits.bytes + request.size)
            } else {
                cache.insert(request.key, for: key, cost: ByteCount(request.size))
            }
        }
        let bytes = requests.reduce(0) { $0 + $1.size }
        return Ratio(
            objects: Double(hits.objects) / Double(requests.count),
            bytes: Double(hits.bytes) / Double(bytes)
        )
    }

    private func ratios(_ rules: [EvictionRule]) async throws -> [[Ratio]] {
        var all: [[Ratio]] = []
        for (trace, parts) in Self.cells {
            let requests = try await Traces.requests(trace)
            let sizes = Dictionary(requests.map { ($0.key, $0.size) }, uniquingKeysWith: { first, _ in first })
            let footprint = sizes.values.reduce(0, +)
            for part in parts {
                all.append(rules.map { replay(requests, Int(Double(footprint) * part), $0) })
            }
        }
        return all
    }

    @Test("C01 the default rules find what they promise, and LRU what others found with it")
    func defaultsReachTargets() async throws {
        let cells = try await ratios([.memory, .disk, .leastRecentlyUsed])
        func mean(_ rule: Int, _ part: KeyPath<Ratio, Double>) -> Double {
            cells.reduce(0) { $0 + $1[rule][keyPath: part] } / Double(cells.count)
        }
        #expect(cells.count == 10)
        #expect(mean(0, \.bytes) >= 0.279)
        #expect(cells.allSatisfy { $0[0].objects >= $0[2].objects - 0.01 })
        #expect(mean(1, \.objects) >= 0.410)
        #expect(mean(1, \.bytes) >= 0.274)
        #expect(abs(mean(2, \.objects) - 0.3445) < 0.0005)
        #expect(abs(mean(2, \.bytes) - 0.2531) < 0.0005)
    }
}
