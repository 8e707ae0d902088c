import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Memory cache: values in use elsewhere", .timeLimit(.minutes(1)))
struct LiveValueTests {
    private final class Object: Sendable {}

    private func makeCache(costLimit: ByteCount = 100, time: any TimeSource = SystemTime()) -> MemoryCache<Object> {
        MemoryCache(costLimit: costLimit, tracking: .objects, time: time)
    }

    private let key = CacheKey("shown")

    @Test("C02 a value in use elsewhere is found again after critical pressure, and counted once")
    func findsAgain() {
        let cache = makeCache()
        let shown = Object()
        cache.insert(shown, for: key, cost: 60)
        cache.insert(Object(), for: CacheKey("other"), cost: 40)
        cache.respond(to: .critical)
        #expect(cache.totalCost == .zero)
        #expect(cache.value(for: key) === shown)
        #expect(cache.value(for: CacheKey("other")) == nil)
        #expect(cache.totalCost == 60)
        #expect(cache.count == 1)
        #expect(cache.value(for: key) === shown)
        #expect(cache.totalCost == 60)
        #expect(cache.statistics.revivals == 1)
        #expect(cache.statistics.hits == 2)
        #expect(cache.statistics.misses == 1)
    }

    @Test("C02 a value that is not in use is not found again, and its memory is freed")
    func forgets() {
        let cache = makeCache()
        weak var released: Object?
        do {
            let object = Object()
            released = object
            cache.insert(object, for: key, cost: 10)
            cache.respond(to: .critical)
            #expect(cache.value(for: key) === object)
            cache.respond(to: .critical)
        }
        #expect(released == nil)
        #expect(cache.value(for: key) == nil)
    }

    @Test("C02 a value over the limit is found as long as it is in use, and never counted")
    func findsTooLarge() {
        let cache = makeCache()
        let large = Object()
        cache.insert(large, for: key, cost: 101)
        #expect(cache.value(for: key) === large)
        #expect(cache.totalCost == .zero)
    }

    @Test("C16 a removed, replaced or expired value is not found again, even while it is in use")
    func doesNotFindRemovedValues() {
        let time = ManualTime()
        let cache = makeCache(time: time)
        let (first, second) = (Object(), Object())
        cache.insert(first, for: key, cost: 10)
        cache.remove(key)
        #expect(cache.value(for: key) == nil)

        cache.insert(first, for: key, cost: 10)
        cache.respond(to: .critical)
        cache.insert(second, for: key, cost: 10)
        #expect(cache.value(for: key) === second)
        cache.remove(key)
        #expect(cache.value(for: key) == nil)

        cache.insert(first, for: key, cost: 10, timeToLive: .seconds(1))
        cache.respond(to: .critical)
        time.advance(by: .seconds(1))
        #expect(cache.value(for: key) == nil)

        cache.insert(first, for: key, cost: 10)
        cache.respond(to: .critical)
        cache.removeAll()
        #expect(cache.value(for: key) == nil)
    }

    @Test("C02 a revived value evicts others, within the limit")
    func revivesWithinLimit() {
        let cache = makeCache()
        let objects = (0..<10).map { _ in Object() }
        for (number, object) in objects.enumerated() { cache.insert(object, for: CacheKey("\(number)"), cost: 40) }
        for (number, object) in objects.enumerated() {
            #expect(cache.value(for: CacheKey("\(number)")) === object)
            #expect(cache.totalCost <= 100)
        }
    }

    @Test("C02 thousands of released values are swept")
    func sweeps() {
        let cache = makeCache()
        let shown = Object()
        cache.insert(shown, for: key, cost: 100)
        for number in 0..<5_000 { cache.insert(Object(), for: CacheKey("\(number)"), cost: 100) }
        #expect(cache.value(for: key) === shown)
    }
}
