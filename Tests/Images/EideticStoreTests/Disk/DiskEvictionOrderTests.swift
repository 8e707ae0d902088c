import EideticCore
import EideticTestSupport
import Glibc
import Testing

@testable import EideticStore

@Suite("Disk cache: eviction order")
struct DiskEvictionOrderTests {
    private static let cells: [(trace: String, part: Double)] = [
        ("nasa-img", 0.01), ("nasa-img", 0.1), ("bu98", 0.001), ("bu98", 0.01), ("bu98", 0.1), ("tencent10k", 0.01),
        ("tencent10k", 0.1), ("web12-photo", 0.001), ("web12-photo", 0.01), ("web12-photo", 0.1),
    ]

    @Test(
        "C10 on recorded requests the mean hit ratio is at least 40.0 % of objects and 26.5 % of bytes",
        .needsTraces,
        .enabled(if: Torture.isFull, "replays all traces: a part of script/torture")
    )
    func hitRatios() async throws {
        var traces: [String: [Traces.Request]] = [:]
        for name in Set(Self.cells.map(\.trace)) { traces[name] = try await Traces.requests(ofTrace: name) }
        var sum = (objects: 0.0, bytes: 0.0)
        for cell in Self.cells {
            let result = try Self.replay(try #require(traces[cell.trace]), capacityShare: cell.part)
            sum = (sum.objects + result.objects, sum.bytes + result.bytes)
        }
        let mean = (objects: sum.objects / Double(Self.cells.count), bytes: sum.bytes / Double(Self.cells.count))
        #expect(mean.objects >= 0.400)
        #expect(mean.bytes >= 0.265)
    }

    /// Requests each object in turn, as the ledger of a cache sees it: hits are recorded, and misses find room.
    private static func replay(_ requests: [Traces.Request], capacityShare: Double) throws -> (
        objects: Double, bytes: Double
    ) {
        let sizes = Dictionary(requests.lazy.map { ($0.key, $0.size) }) { first, _ in first }
        let capacity = Int(capacityShare * Double(sizes.values.reduce(0, +))), directory = try TemporaryDirectory()
        let configuration = DiskCache.Configuration(directory: directory.path)
        let limits = DiskLimits(configuration, totalSize: capacity, blockSize: 1)
        let ledger = Ledger(layout: DiskLayout(configuration), files: FileSystem(), limits: limits)
        var (hits, hitBytes, bytes) = (0, 0, 0)
        try ledger.transaction { () throws(SystemError) in
            for request in requests {
                bytes += request.size
                let entry = IndexEntry(key: CacheKey(request.key), size: UInt32(request.size))
                if ledger.index.entry(for: entry.key) != nil {
                    _ = ledger.recordAccesses([entry.key])
                    hits += 1
                    hitBytes += request.size
                } else if request.size <= capacity {
                    try ledger.makeRoom(for: request.size)
                    ledger.index.put(entry)
                    guard ledger.usedSize <= capacity else { throw SystemError(.write, errorNumber: EDQUOT) }
                }
            }
        }
        return (Double(hits) / Double(requests.count), Double(hitBytes) / Double(bytes))
    }

    @Test("C10 an index has the same eviction order after it is saved and restored")
    func persistence() {
        var first = DiskIndex(blockSize: 4_096)
        var generator = SystemRandomNumberGenerator()
        for number in 0..<2_000 {
            var entry = IndexEntry()
            entry.key = CacheKey("\(number)")
            entry.size = UInt32.random(in: 1...200_000, using: &generator)
            first.put(entry)
            first.touch(CacheKey("\(Int.random(in: 0...number))"), count: 1)
            if number > 1_000 { _ = first.evict(derivedFirst: false) }
        }
        var second = DiskIndex(blockSize: 4_096)
        first.forEach { second.put($0) }
        #expect(second.allocatedSize == first.allocatedSize)
        #expect(second.count == first.count)
        // Rounding may exchange neighbours whose priorities are equal to six digits.
        var (one, other): (Set<CacheKey>, Set<CacheKey>) = ([], [])
        for _ in 0..<(second.count / 2) {
            if let key = first.evict(derivedFirst: false)?.key { one.insert(key) }
            if let key = second.evict(derivedFirst: false)?.key { other.insert(key) }
        }
        #expect(one.symmetricDifference(other).count <= 2)
    }

    @Test("C12 an index agrees with a dictionary over random puts, touches and removals")
    func model() {
        var index = DiskIndex(blockSize: 512)
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
            case 2: index.touch(key, count: 3)
            default: #expect(index.remove(key)?.size == model.removeValue(forKey: number))
            }
        }
        #expect(index.count == model.count)
        #expect(index.logicalSize == model.values.reduce(0) { $0 + Int($1) })
        #expect(index.allocatedSize == model.values.reduce(0) { $0 + (Int($1) + 511) / 512 * 512 })
        for (number, size) in model { #expect(index.entry(for: CacheKey("\(number)"))?.size == size) }
    }

    @Test("C09 C10 an expired entry kept because of an access keeps its access count")
    func sweepKeepsUses() throws {
        let fixture = try DiskFixture {
            $0.maximumAge = .seconds(100)
            $0.ageBasis = .access
        }
        let (cache, time) = (fixture.cache, fixture.time)
        try write("often", to: fixture)
        time.advance(by: .seconds(60))
        for _ in 0..<14 { #expect(try cache.blocking.read("often") != nil) }
        try write("less", to: fixture)
        for _ in 0..<9 { #expect(try cache.blocking.read("less") != nil) }
        // A write records the accesses in the ledger.
        try cache.blocking.insert([1], for: "other", metadata: .init(expirationTime: time.now + .seconds(1)))
        time.advance(by: .seconds(50))
        // The ledger has the time of the write of "often", the file that of its latest access.
        #expect(try cache.blocking.removeExpired() == 1)
        #expect(try cache.blocking.trim(toSize: ByteCount(4_096)) == 1)
        #expect(try cache.blocking.entries().map(\.key) == ["often"])
    }

    @Test("C20 a validated entry keeps its access count, and a replaced one half of it")
    func refreshKeepsUses() throws {
        for (isRefreshed, kept) in [(true, "often"), (false, "less")] {
            let fixture = try DiskFixture()
            let cache = fixture.cache
            try write("often", to: fixture)
            try write("less", to: fixture)
            for _ in 0..<14 { #expect(try cache.blocking.read("often") != nil) }
            for _ in 0..<9 { #expect(try cache.blocking.read("less") != nil) }
            let entry = try #require(try cache.blocking.read("often"))
            // A write records the accesses in the ledger.
            try cache.blocking.insert([1], for: "other")
            if isRefreshed {
                #expect(
                    try cache.writer.replaceMetadata(
                        of: entry,
                        with: .init(expirationTime: fixture.time.now + .seconds(9))
                    )
                )
            } else {
                try cache.blocking.insert(entry.bytes, for: "often")
            }
            #expect(try cache.blocking.trim(toSize: ByteCount(4_096)) == 2)
            #expect(try cache.blocking.entries().map(\.key) == [kept])
        }
    }

    private func write(_ key: String, to fixture: DiskFixture) throws {
        try fixture.cache.blocking.insert([1], for: key)
        // The file system has a clock of its own, not the test's.
        try FileSystem().setModificationTime(of: fixture.cache.path(for: key), to: fixture.time.now)
    }
}
