import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Disk cache: order of eviction")
struct DiskOrderTests {
    private static let cells: [(trace: String, part: Double)] = [
        ("nasa-img", 0.01), ("nasa-img", 0.1), ("bu98", 0.001), ("bu98", 0.01), ("bu98", 0.1), ("tencent10k", 0.01),
        ("tencent10k", 0.1), ("web12-photo", 0.001), ("web12-photo", 0.01), ("web12-photo", 0.1),
    ]

    @Test("C10 on recorded requests at least 40.0 % of objects and 26.5 % of bytes are hits, in the mean", .needsTraces)
    func hitRatios() async throws {
        var traces: [String: [Traces.Request]] = [:]
        for name in Set(Self.cells.map(\.trace)) { traces[name] = try await Traces.requests(name) }
        var sum = (objects: 0.0, bytes: 0.0)
        for cell in Self.cells {
            let result = Self.replay(try #require(traces[cell.trace]), cell.part)
            sum = (sum.objects + result.objects, sum.bytes + result.bytes)
        }
        let mean = (objects: sum.objects / Double(Self.cells.count), bytes: sum.bytes / Double(Self.cells.count))
        #expect(mean.objects >= 0.400)
        #expect(mean.bytes >= 0.265)
    }

    /// Asks for each object in turn, with the index, the order and the slack of the real cache.
    private static func replay(_ requests: [Traces.Request], _ part: Double) -> (objects: Double, bytes: Double) {
        let sizes = Dictionary(requests.lazy.map { ($0.key, $0.size) }) { first, _ in first }
        let capacity = Int(part * Double(sizes.values.reduce(0, +)))
        var index = DiskIndex(block: 1)
        var (hits, hitBytes, bytes) = (0, 0, 0)
        for request in requests {
            bytes += request.size
            var entry = IndexEntry()
            entry.key = CacheKey(request.key)
            entry.size = UInt32(request.size)
            if index.entry(entry.key) != nil {
                index.touch(entry.key, uses: 1)
                hits += 1
                hitBytes += request.size
            } else if request.size <= capacity {
                if index.allocated + request.size > capacity {
                    let target = capacity - min(capacity / 64, 4 << 20)
                    while index.allocated > 0, index.allocated + request.size > target {
                        _ = index.evict(derivedFirst: false)
                    }
                }
                index.put(entry)
            }
        }
        return (Double(hits) / Double(requests.count), Double(hitBytes) / Double(bytes))
    }

    @Test("C10 an index gives the same order of eviction when it is written down and read again")
    func persistence() {
        var first = DiskIndex(block: 4_096)
        var generator = SystemRandomNumberGenerator()
        for number in 0..<2_000 {
            var entry = IndexEntry()
            entry.key = CacheKey("\(number)")
            entry.size = UInt32.random(in: 1...200_000, using: &generator)
            first.put(entry)
            first.touch(CacheKey("\(Int.random(in: 0...number))"), uses: 1)
            if number > 1_000 { _ = first.evict(derivedFirst: false) }
        }
        var second = DiskIndex(block: 4_096)
        first.forEach { second.put($0) }
        #expect(second.allocated == first.allocated)
        #expect(second.count == first.count)
        // Rounding may exchange neighbours that are worth the same to the sixth digit.
        var (one, other): (Set<CacheKey>, Set<CacheKey>) = ([], [])
        for _ in 0..<(second.count / 2) {
            if let key = first.evict(derivedFirst: false)?.key { one.insert(key) }
            if let key = second.evict(derivedFirst: false)?.key { other.insert(key) }
        }
        #expect(one.symmetricDifference(other).count <= 2)
    }

    @Test("C12 an index agrees with a dictionary over random puts, touches and removals")
    func model() {
        var index = DiskIndex(block: 512)
        var model: [Int: UInt32] = [:]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let number = Int.random(in: 0..<700, using: &generator)
            let key = CacheKey("\(number)")
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1:
                var entry = IndexEntry()
                entry.key = key
                entry.size = UInt32.random(in: 0...5_000, using: &generator)
                index.put(entry)
                model[number] = entry.size
            case 2: index.touch(key, uses: 3)
            default: #expect(index.remove(key)?.size == model.removeValue(forKey: number))
            }
        }
        #expect(index.count == model.count)
        #expect(index.logical == model.values.reduce(0) { $0 + Int($1) })
        #expect(index.allocated == model.values.reduce(0) { $0 + (Int($1) + 511) / 512 * 512 })
        for (number, size) in model { #expect(index.entry(CacheKey("\(number)"))?.size == size) }
    }
}
