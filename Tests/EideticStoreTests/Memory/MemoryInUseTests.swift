import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Memory cache: what is in use", .timeLimit(.minutes(1)))
struct MemoryInUseTests {
    private final class Picture: Sendable {}

    private func cache(_ costLimit: ByteCount = 100, time: any TimeSource = SystemTime()) -> MemoryCache<Picture> {
        MemoryCache(costLimit: costLimit, tracking: .objects, time: time)
    }

    private let key = CacheKey("shown")

    @Test("C02 what is held elsewhere is found again after critical pressure, and counted once")
    func findsAgain() {
        let cache = cache()
        let shown = Picture()
        cache.insert(shown, for: key, cost: 60)
        cache.insert(Picture(), for: CacheKey("other"), cost: 40)
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

    @Test("C02 what nobody holds any more is not found, and its memory is free")
    func forgets() {
        let cache = cache()
        weak var gone: Picture?
        do {
            let picture = Picture()
            gone = picture
            cache.insert(picture, for: key, cost: 10)
            cache.respond(to: .critical)
            #expect(cache.value(for: key) === picture)
            cache.respond(to: .critical)
        }
        #expect(gone == nil)
        #expect(cache.value(for: key) == nil)
    }

    @Test("C02 a value over the limit is found as long as it is held, and never counted")
    func findsTooLarge() {
        let cache = cache()
        let large = Picture()
        cache.insert(large, for: key, cost: 101)
        #expect(cache.value(for: key) === large)
        #expect(cache.totalCost == .zero)
    }

    @Test("C16 what was removed, replaced or has expired is not found again, whoever holds it")
    func doesNotFindWhatMayNotBeFound() {
        let time = ManualTime()
        let cache = cache(time: time)
        let (first, second) = (Picture(), Picture())
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

    @Test("C02 reviving makes room within the limit")
    func revivesWithinLimit() {
        let cache = cache()
        let pictures = (0..<10).map { _ in Picture() }
        for (number, picture) in pictures.enumerated() { cache.insert(picture, for: CacheKey("\(number)"), cost: 40) }
        for (number, picture) in pictures.enumerated() {
            #expect(cache.value(for: CacheKey("\(number)")) === picture)
            #expect(cache.totalCost <= 100)
        }
    }

    @Test("C02 thousands of dead values are swept away")
    func sweeps() {
        let cache = cache()
        let shown = Picture()
        cache.insert(shown, for: key, cost: 100)
        for number in 0..<5_000 { cache.insert(Picture(), for: CacheKey("\(number)"), cost: 100) }
        #expect(cache.value(for: key) === shown)
    }
}
