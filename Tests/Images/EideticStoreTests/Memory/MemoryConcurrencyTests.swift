import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Memory cache: many threads", .timeLimit(.minutes(2)))
struct MemoryConcurrencyTests {
    /// An inserted value, with its key, version and cost.
    private final class Value: Sendable {
        let key: Int
        let version: Int
        let cost: Int

        init(key: Int, version: Int) {
            self.key = key
            self.version = version
            cost = (key &* 37 &+ version &* 11) % 200
        }
    }

    private static let threads = 8
    private static let keys = 64

    @Test("C01 C16 random operations on 8 threads match the model, and the limits hold at every instant")
    func randomOperations() async {
        let cache = MemoryCache<Value>(costLimit: 3_000, countLimit: 40, tracking: .objects)
        // Only one thread changes each key, so its model is exact.
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<Self.threads {
                group.addTask { Self.performRandomOperations(on: cache, thread: thread, steps: 4_000) }
            }
        }
        let entries = cache.entries
        #expect(cache.count == entries.count)
        #expect(cache.totalCost.bytes == entries.reduce(0) { $0 + $1.cost.bytes })
        let statistics = cache.statistics
        let removed = MemoryRemovalReason.allCases.reduce(0) { $0 + statistics.removals(for: $1) }
        #expect(statistics.insertions == removed + entries.count)
        cache.removeAll()
        #expect(cache.totalCost == .zero)
    }

    private static func performRandomOperations(on cache: MemoryCache<Value>, thread: Int, steps: Int) {
        var random = SystemRandomNumberGenerator()
        var latest: [Int: Value] = [:]
        for step in 0..<steps {
            let key = thread + threads * Int.random(in: 0..<keys / threads, using: &random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<30:
                let value = Value(key: key, version: step)
                latest[key] = value
                cache.insert(value, for: CacheKey("\(key)"), cost: ByteCount(value.cost))
            case 30..<35:
                latest[key] = nil
                cache.remove(CacheKey("\(key)"))
            case 35: cache.trim(toCost: ByteCount(Int.random(in: 0..<3_000, using: &random)))
            case 36: cache.respond(to: MemoryPressure.allCases.randomElement(using: &random) ?? .normal)
            case 37: checkLimits(of: cache.entries)
            default:
                let found = cache.value(for: CacheKey("\(key)"))
                // The model keeps the value in use, so it is found even after its eviction.
                #expect(found === latest[key])
            }
            if step % 16 == 0 { checkLookup(in: cache, key: Int.random(in: 0..<keys, using: &random)) }
        }
    }

    /// Looks up a key that another thread may be changing.
    private static func checkLookup(in cache: MemoryCache<Value>, key: Int) {
        if let value = cache.value(for: CacheKey("\(key)")) { #expect(value.key == key) }
        #expect(cache.totalCost <= 3_000)
        #expect(cache.count <= 40)
    }

    private static func checkLimits(of entries: [MemoryCache<Value>.Entry]) {
        #expect(entries.count <= 40)
        #expect(entries.reduce(0) { $0 + $1.cost.bytes } <= 3_000)
        #expect(entries.allSatisfy { $0.cost.bytes == $0.value.cost && $0.key == CacheKey("\($0.value.key)") })
    }

    @Test("C01 a value in use is found at every moment, while other threads evict and revive it")
    func movesUnderReaders() async {
        let cache = MemoryCache<Value>(costLimit: 1_000, countLimit: 1, tracking: .objects)
        let value = Value(key: 1, version: 0), key = CacheKey("1")
        cache.insert(value, for: key, cost: 1)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for version in 0..<Torture.repetitions(5_000, full: 1_000_000) {
                    cache.insert(Value(key: 2, version: version), for: CacheKey("2"), cost: 1)
                    #expect(cache.value(for: key) === value)
                    cache.remove(CacheKey("2"))
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<Torture.repetitions(15_000, full: 3_000_000) {
                        #expect(cache.value(for: key) === value)
                    }
                }
            }
        }
    }

    @Test("C01 all entries are found while the table grows and shrinks under readers")
    func growsUnderReaders() async {
        let cache = MemoryCache<Int>(costLimit: .mebibytes(1_024))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<20_000 { cache.insert(number, for: CacheKey("\(number)"), cost: 1) }
                for number in stride(from: 0, to: 20_000, by: 2) { cache.remove(CacheKey("\(number)")) }
            }
            for _ in 0..<3 {
                group.addTask {
                    for number in 0..<40_000 {
                        let key = number % 20_000
                        if let value = cache.value(for: CacheKey("\(key)")) { #expect(value == key) }
                    }
                }
            }
        }
        #expect(cache.count == 10_000)
        #expect((0..<20_000).allSatisfy { cache.value(for: CacheKey("\($0)")) == ($0 % 2 == 0 ? nil : $0) })
    }
}
