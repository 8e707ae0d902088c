import EideticCore
import EideticReplay
import EideticTestSupport
import Testing

@Suite("Hit ratios on recorded traces", .needsTraces, .timeLimit(.minutes(3)))
struct HitRatioTests {
    /// The traces, and the sizes of the cache as fractions of the bytes of all objects.
    private static let cells: [(trace: String, fractions: [Double])] =
        [("nasa-img", [0.01, 0.1])]
        + (Torture.isFull
            ? [("bu98", [0.001, 0.01, 0.1]), ("tencent10k", [0.01, 0.1]), ("web12-photo", [0.001, 0.01, 0.1])] : [])

    private struct Ratio {
        var objects = 0.0
        var bytes = 0.0
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

    /// Returns the ratios of the memory cache's default, of LRU in memory, and of the disk cache, for each cell.
    private func ratios() async throws -> [[Ratio]] {
        var all: [[Ratio]] = []
        for (trace, fractions) in Self.cells {
            let requests = try await Traces.requests(ofTrace: trace)
            let sizes = Dictionary(requests.map { ($0.key, $0.size) }, uniquingKeysWith: { first, _ in first })
            let footprint = sizes.values.reduce(0, +)
            for fraction in fractions {
                let capacity = Int(Double(footprint) * fraction)
                let memory = MemoryCacheSimulator(capacity: capacity, policy: .mostBytes)
                let lru = MemoryCacheSimulator(capacity: capacity, policy: .leastRecentlyUsed)
                var disk = DiskCacheSimulator(capacity: capacity)
                all.append([
                    replay(requests) { memory.request($0, size: $1) },
                    replay(requests) { lru.request($0, size: $1) },
                    replay(requests) { disk.request($0, size: $1) },
                ])
            }
        }
        return all
    }

    @Test("C01 C10 the default rules reach their hit ratios, and LRU the published ones")
    func defaultsReachTargets() async throws {
        let cells = try await ratios()
        func mean(rule: Int, ratio: KeyPath<Ratio, Double>) -> Double {
            cells.reduce(0) { $0 + $1[rule][keyPath: ratio] } / Double(cells.count)
        }
        #expect(cells.allSatisfy { $0[0].objects >= $0[1].objects - 0.01 })
        // The published means are those of all traces.
        guard Torture.isFull else { return }
        #expect(cells.count == 10)
        #expect(mean(rule: 0, ratio: \.bytes) >= 0.279)
        #expect(abs(mean(rule: 1, ratio: \.objects) - 0.3445) < 0.0005)
        #expect(abs(mean(rule: 1, ratio: \.bytes) - 0.2531) < 0.0005)
        #expect(mean(rule: 2, ratio: \.objects) >= 0.405)
        #expect(mean(rule: 2, ratio: \.bytes) >= 0.265)
    }
}
