import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Memory cache", .timeLimit(.minutes(1)))
struct MemoryCacheTests {
    private func key(_ number: Int) -> CacheKey { CacheKey("http://example.org/\(number).jpg") }

    @Test("L15 an inserted value is found at once")
    func findsValue() {
        let cache = MemoryCache<String>(costLimit: .mebibytes(1))
        cache.insert("first", for: key(1), cost: 10)
        #expect(cache.value(for: key(1)) == "first")
        #expect(cache.value(for: key(2)) == nil)
        #expect(cache.statistics.hits == 1)
        #expect(cache.statistics.misses == 1)
    }

    @Test("C01 the total cost and the count never exceed the limits")
    func holdsLimits() {
        let cache = MemoryCache<Int>(costLimit: 1_000, countLimit: 30)
        for number in 0..<2_000 {
            cache.insert(number, for: key(number), cost: ByteCount(number % 97))
            #expect(cache.totalCost <= 1_000)
            #expect(cache.count <= 30)
            #expect(cache.value(for: key(number)) == number)
        }
    }

    @Test("C01 a value larger than the limit is not stored, and the earlier value of its key is removed")
    func refusesTooLarge() {
        let cache = MemoryCache<Int>(costLimit: 100)
        cache.insert(1, for: key(1), cost: 100)
        cache.insert(2, for: key(1), cost: 101)
        #expect(cache.value(for: key(1)) == nil)
        #expect(cache.totalCost == .zero)
        #expect(cache.statistics.rejections == 1)
    }

    @Test("C01 limits can be changed, and a lower one takes effect at once")
    func changesLimits() {
        let cache = MemoryCache<Int>(costLimit: 1_000)
        for number in 0..<10 { cache.insert(number, for: key(number), cost: 100) }
        cache.costLimit = 450
        #expect(cache.totalCost == 400)
        cache.countLimit = 3
        #expect(cache.count == 3)
        #expect(cache.statistics.removals(for: .costLimit) == 6)
        #expect(cache.statistics.removals(for: .countLimit) == 1)
        cache.costLimit = 0
        #expect(cache.count == 0)
    }

    @Test("C01 only the cost of the new value counts after a replacement")
    func replaces() {
        let cache = MemoryCache<Int>(costLimit: 1_000)
        cache.insert(1, for: key(1), cost: 600)
        cache.insert(2, for: key(1), cost: 700)
        #expect(cache.value(for: key(1)) == 2)
        #expect(cache.totalCost == 700)
        #expect(cache.count == 1)
        #expect(cache.statistics.removals(for: .replaced) == 1)
    }

    @Test("C16 a value is not found after its time to live")
    func expires() {
        let time = ManualTime()
        let cache = MemoryCache<Int>(costLimit: 1_000, tracking: nil, time: time)
        cache.insert(1, for: key(1), cost: 1, timeToLive: .seconds(10))
        cache.insert(2, for: key(2), cost: 1)
        time.advance(by: .seconds(9))
        #expect(cache.value(for: key(1)) == 1)
        time.advance(by: .seconds(1))
        #expect(cache.value(for: key(1)) == nil)
        #expect(cache.value(for: key(2)) == 2)
        #expect(cache.count == 1)
        #expect(cache.statistics.removals(for: .expired) == 1)
        #expect(cache.statistics.hits == 2)
    }

    @Test(
        "C02 each level of memory pressure keeps its fraction",
        arguments: zip([MemoryPressure.normal, .warning, .urgent, .critical], [1_000, 500, 250, 0])
    )
    func shrinks(_ pressure: MemoryPressure, cost: Int) {
        let cache = MemoryCache<Int>(costLimit: 1_000)
        for number in 0..<100 { cache.insert(number, for: key(number), cost: 10) }
        cache.respond(to: pressure)
        #expect(cache.totalCost == ByteCount(cost))
        #expect(cache.costLimit == 1_000)
    }

    @Test("C02 critical pressure also evicts values that cost nothing")
    func dropsFreeEntries() {
        let cache = MemoryCache<Int>(costLimit: 1_000)
        cache.insert(1, for: key(1), cost: 0)
        cache.respond(to: .critical)
        #expect(cache.count == 0)
    }

    @Test("C01 a removal frees the cost of the value")
    func removes() {
        let cache = MemoryCache<Int>(costLimit: 1_000)
        for number in 0..<100 { cache.insert(number, for: key(number), cost: 10) }
        for number in 0..<50 { cache.remove(key(number)) }
        #expect(cache.totalCost == 500)
        #expect((0..<100).allSatisfy { (cache.value(for: key($0)) == nil) == ($0 < 50) })
        cache.removeAll()
        #expect(cache.totalCost == .zero)
        #expect(cache.count == 0)
    }

    @Test("C01 no value outlives its cache")
    func releasesValues() {
        final class Counter: Sendable {}
        weak var weakCounter: Counter?
        do {
            let cache = MemoryCache<Counter>(costLimit: 1_000)
            let counter = Counter()
            weakCounter = counter
            cache.insert(counter, for: key(1), cost: 1)
        }
        #expect(weakCounter == nil)
    }
}
