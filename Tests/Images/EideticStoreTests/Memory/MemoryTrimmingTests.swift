import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Memory cache: trimming and hooks", .timeLimit(.minutes(1)))
struct MemoryTrimmingTests {
    private func key(_ number: Int) -> CacheKey { CacheKey("\(number)") }

    private func filledCache(time: ManualTime = ManualTime()) -> MemoryCache<Int> {
        let cache = MemoryCache<Int>(costLimit: 1_000, tracking: nil, time: time)
        for number in 1...10 {
            cache.insert(number, for: key(number), cost: ByteCount(number * 10), timeToLive: .seconds(number))
            time.advance(by: .milliseconds(100))
        }
        return cache
    }

    @Test("C16 values inserted before a date are removed")
    func removesOldEntries() {
        let time = ManualTime()
        let start = time.now
        let cache = filledCache(time: time)
        cache.removeEntries(storedBefore: start + .milliseconds(500))
        #expect(cache.entries.map(\.value).sorted() == [6, 7, 8, 9, 10])
        #expect(cache.statistics.removals(for: .trimmed) == 5)
    }

    @Test("C16 a cache is trimmed to a cost, with the costliest values first on request")
    func trimsToCost() {
        let cache = filledCache()
        cache.trim(toCost: 300, order: .costliestFirst)
        #expect(cache.entries.map(\.value).sorted() == [1, 2, 3, 4, 5, 6, 7])
        cache.trim(toCost: 100)
        #expect(cache.totalCost <= 100)
        #expect(cache.count > 0)
    }

    @Test("C16 expired values are removed")
    func removesExpired() {
        let time = ManualTime()
        let cache = filledCache(time: time)
        time.advance(by: .seconds(4))
        cache.removeExpired()
        #expect(cache.entries.map(\.value).sorted() == [5, 6, 7, 8, 9, 10])
        #expect(cache.statistics.removals(for: .expired) == 4)
    }

    @Test("C16 entries are listed with their costs and times, and count no look-up")
    func enumerates() throws {
        let time = ManualTime()
        let start = time.now
        let cache = filledCache(time: time)
        let entry = try #require(cache.entries.first { $0.key == key(2) })
        #expect(entry.value == 2)
        #expect(entry.cost == 20)
        #expect(entry.storageTime == start + .milliseconds(100))
        #expect(entry.expirationTime == start + .milliseconds(2_100))
        #expect(cache.contains(key(2)))
        #expect(!cache.contains(key(11)))
        #expect(cache.statistics.hits + cache.statistics.misses == 0)
        #expect(cache[key(2)] == 2)
    }

    @Test("C16 hooks are called before and after a change, with the reason, and may call the cache")
    func callsHooks() {
        let log = Guarded<[String]>([])
        let cacheBox = Guarded<MemoryCache<Int>?>(nil)
        @Sendable func record(_ text: String, key: CacheKey) {
            let cache = cacheBox.withLock { $0 }
            let isCached = cache?.contains(key) ?? false
            log.withLock { $0.append("\(text) \(isCached ? "there" : "gone")") }
        }
        var hooks = MemoryHooks<Int>()
        hooks.willInsert = { key, value, _ in record("will insert \(value)", key: key) }
        hooks.didInsert = { key, value, _ in record("did insert \(value)", key: key) }
        hooks.willRemove = { key, value, reason in record("will remove \(value) \(reason)", key: key) }
        hooks.didRemove = { key, value, reason in record("did remove \(value) \(reason)", key: key) }
        let cache = MemoryCache<Int>(costLimit: 100, hooks: hooks)
        cacheBox.withLock { $0 = cache }
        cache.insert(1, for: key(1), cost: 100)
        cache.insert(2, for: key(2), cost: 100)
        cache.remove(key(2))
        cache.insert(3, for: key(3), cost: 101)
        cacheBox.withLock { $0 = nil }
        #expect(
            log.withLock { $0 } == [
                "will insert 1 gone", "did insert 1 there", "will insert 2 gone", "will remove 1 costLimit gone",
                "did remove 1 costLimit gone", "did insert 2 there", "will remove 2 removed there",
                "did remove 2 removed gone", "will insert 3 gone",
            ]
        )
    }
}
