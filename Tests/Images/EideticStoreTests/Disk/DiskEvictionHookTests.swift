import EideticCore
import EideticStore
import EideticTestSupport
import Testing

@Suite("Disk cache: eviction")
struct DiskEvictionHookTests {
    private final class HookLog: Sendable {
        private let state = Guarded((will: [String](), did: [String]()))

        var will: [String] { state.withLock { $0.will } }
        var did: [String] { state.withLock { $0.did } }

        func observe(_ cache: DiskCache) {
            var hooks = DiskCache.Hooks()
            hooks.willEvict = { [weak cache] key in
                // A call to the cache would hang if a lock were held. The entry still exists.
                #expect((try? cache?.lookup.info(for: key)) != nil)
                self.state.withLock { $0.will.append(key) }
            }
            hooks.didEvict = { [weak cache] key in
                #expect((try? cache?.blocking.contains(key)) == false)
                self.state.withLock { $0.did.append(key) }
            }
            cache.setHooks(hooks)
        }
    }

    @Test("C16 hooks are called before and after each entry is evicted to make room")
    func announcesEvictionForSpace() throws {
        let fixture = try DiskFixture { $0.sizeLimit = ByteCount(40 * 4_096) }
        let record = HookLog()
        record.observe(fixture.cache)
        for index in 0..<100 { try fixture.cache.blocking.insert(pattern(3_000), for: "\(index)") }
        #expect(record.did.count == 100 - fixture.cache.blocking.usage.entryCount)
        #expect(Set(record.did).count == record.did.count)
        #expect(Set(record.will) == Set(record.did))
        for key in record.did { #expect(try fixture.cache.blocking.read(key) == nil) }
    }

    @Test("C16 hooks are called for the entries that a trim, a sweep and expiration remove")
    func trims() throws {
        let fixture = try DiskFixture()
        let record = HookLog()
        record.observe(fixture.cache)
        for index in 0..<40 { try fixture.cache.blocking.insert(pattern(3_000), for: "\(index)") }
        let half = ByteCount(fixture.cache.blocking.usage.allocatedSize.bytes / 2)
        #expect(try fixture.cache.blocking.trim(toSize: half) == 20)
        #expect(record.did.count == 20)
        _ = try fixture.cache.blocking.sweep(downTo: half - 1)
        #expect(record.did.count == 40 - fixture.cache.blocking.usage.entryCount)
        fixture.time.advance(by: .seconds(8 * 86_400))
        try fixture.cache.blocking.removeExpired()
        #expect(Set(record.did) == Set((0..<40).map { "\($0)" }))
        #expect(Set(record.will) == Set(record.did))
        // A removal by the caller is not an eviction.
        try fixture.cache.blocking.insert([1], for: "a")
        try fixture.cache.blocking.remove("a")
        #expect(record.did.count == 40)
    }

    @Test("C16 hooks are not called for entries kept because of an access")
    func ignoresRetainedEntries() throws {
        let fixture = try DiskFixture {
            $0.maximumAge = .seconds(100)
            $0.ageBasis = .access
        }
        let record = HookLog(), cache = fixture.cache
        record.observe(cache)
        for key in ["used", "idle"] {
            try cache.blocking.insert([1], for: key)
            try FileSystem().setModificationTime(of: cache.path(for: key), to: fixture.time.now)
        }
        fixture.time.advance(by: .seconds(60))
        #expect(try cache.blocking.read("used") != nil)
        fixture.time.advance(by: .seconds(60))
        #expect(try cache.blocking.removeExpired() == 1)
        #expect(record.will == ["idle"])
        #expect(record.did == ["idle"])
    }

    @Test("C10 a trim makes as many system calls among many entries as among few")
    func cost() throws {
        var counts: [Int] = []
        for entries in [200, Torture.repetitions(1_000, full: 20_000)] {
            let fixture = try DiskFixture { $0.sizeLimit = .mebibytes(1_024) }
            for index in 0..<entries { try fixture.cache.blocking.insert([1], for: "\(index)") }
            let block = fixture.cache.blocking.usage.allocatedSize.bytes / entries
            fixture.plan.resetCalls()
            #expect(try fixture.cache.blocking.trim(toSize: ByteCount((entries - 100) * block)) == 100)
            counts.append(fixture.plan.calls.count)
        }
        // The ledger allocates space on the device from time to time.
        #expect(abs(counts[0] - counts[1]) <= 3)
        #expect(counts[0] < 130)
    }
}
