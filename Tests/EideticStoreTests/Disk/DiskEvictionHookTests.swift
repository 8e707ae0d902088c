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
                // Calling back would hang if a lock were held; and it is still there.
                #expect((try? cache?.info(for: key)) != nil)
                self.state.withLock { $0.will.append(key) }
            }
            hooks.didEvict = { [weak cache] key in
                #expect((try? cache?.contains(key)) == false)
                self.state.withLock { $0.did.append(key) }
            }
            cache.setHooks(hooks)
        }
    }

    @Test("C16 hooks are told of each entry before and after it is evicted for want of room")
    func announcesEvictionForSpace() throws {
        let fixture = try DiskFixture { $0.sizeLimit = ByteCount(40 * 4_096) }
        let record = HookLog()
        record.observe(fixture.cache)
        for index in 0..<100 { try fixture.cache.write(pattern(3_000), for: "\(index)") }
        #expect(record.did.count == 100 - fixture.cache.usage.entryCount)
        #expect(Set(record.did).count == record.did.count)
        #expect(Set(record.will) == Set(record.did))
        for key in record.did { #expect(try fixture.cache.read(key) == nil) }
    }

    @Test("C16 hooks are told of what a trim, a sweep and expiry take")
    func trims() throws {
        let fixture = try DiskFixture()
        let record = HookLog()
        record.observe(fixture.cache)
        for index in 0..<40 { try fixture.cache.write(pattern(3_000), for: "\(index)") }
        let half = ByteCount(fixture.cache.usage.allocatedSize.bytes / 2)
        #expect(try fixture.cache.trim(toSize: half) == 20)
        #expect(record.did.count == 20)
        _ = try fixture.cache.sweep(downTo: half - 1)
        #expect(record.did.count == 40 - fixture.cache.usage.entryCount)
        fixture.time.advance(by: .seconds(8 * 86_400))
        try fixture.cache.removeExpired()
        #expect(Set(record.did) == Set((0..<40).map { "\($0)" }))
        #expect(Set(record.will) == Set(record.did))
        // What the caller removes is not evicted.
        try fixture.cache.write([1], for: "a")
        try fixture.cache.remove("a")
        #expect(record.did.count == 40)
    }

    @Test("C16 hooks are not told of what a sweep keeps because it was used")
    func ignoresRetainedEntries() throws {
        let fixture = try DiskFixture {
            $0.maximumAge = .seconds(100)
            $0.ageBasis = .access
        }
        let record = HookLog(), cache = fixture.cache
        record.observe(cache)
        for key in ["used", "idle"] {
            try cache.write([1], for: key)
            try FileSystem().setModificationTime(of: cache.path(for: key), to: fixture.time.now)
        }
        fixture.time.advance(by: .seconds(60))
        #expect(try cache.read("used") != nil)
        fixture.time.advance(by: .seconds(60))
        #expect(try cache.removeExpired() == 1)
        #expect(record.will == ["idle"])
        #expect(record.did == ["idle"])
    }

    @Test("C10 a trim takes as many system calls among many entries as among few")
    func cost() throws {
        var counts: [Int] = []
        for entries in [200, Torture.repetitions(1_000, full: 20_000)] {
            let fixture = try DiskFixture { $0.sizeLimit = .gibibytes(1) }
            for index in 0..<entries { try fixture.cache.write([1], for: "\(index)") }
            let block = fixture.cache.usage.allocatedSize.bytes / entries
            fixture.plan.resetCalls()
            #expect(try fixture.cache.trim(toSize: ByteCount((entries - 100) * block)) == 100)
            counts.append(fixture.plan.calls.count)
        }
        // The ledger takes room on the device now and then.
        #expect(abs(counts[0] - counts[1]) <= 3)
        #expect(counts[0] < 130)
    }
}
