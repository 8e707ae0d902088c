import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: features of PINCache and SDWebImage")
struct DiskCacheFeatureTests {
    private struct Note: Codable, Equatable, Sendable {
        let text: String
        let numbers: [Int]
    }

    @Test("C16 any Codable value is stored, and bytes that cannot be decoded are an error")
    func codable() throws {
        let cache = try DiskFixture().cache
        let note = Note(text: "a", numbers: [1, 2])
        try cache.blocking.insert(note, for: "note", with: .json)
        #expect(try cache.blocking.value(for: "note", with: DiskCache.Serializer<Note>.json) == note)
        #expect(try cache.blocking.value(for: "other", with: DiskCache.Serializer<Note>.json) == nil)
        try cache.blocking.insert([1, 2, 3], for: "bytes")
        #expect(
            errorCode { _ = try cache.blocking.value(for: "bytes", with: DiskCache.Serializer<Note>.json) } == .corrupt
        )
        #expect(errorCode { try cache.blocking.insert(Double.nan, for: "nan", with: .json) } == .encodingFailed)
    }

    @Test("C16 hooks are called around changes, without a lock, and not for failures")
    func hooks() throws {
        let fixture = try DiskFixture()
        let cache = fixture.cache
        let log = Guarded<[String]>([])
        var hooks = DiskCache.Hooks()
        // A call to the cache would hang if a lock were held.
        hooks.willAdd = { [weak cache] key, size in
            log.withLock { $0.append("+\(key) \(size)") }; _ = cache?.blocking.usage
        }
        hooks.didAdd = { [weak cache] key, size in
            log.withLock { $0.append("=\(key) \(size)") }; _ = cache?.blocking.usage
        }
        hooks.willRemove = { key in log.withLock { $0.append("-\(key)") } }
        hooks.didRemove = { [weak cache] key in
            log.withLock { $0.append("!\(key)") }; _ = try? cache?.blocking.read(key)
        }
        hooks.didRemoveAll = { log.withLock { $0.append("all") } }
        cache.setHooks(hooks)
        try cache.blocking.insert([1, 2], for: "a")
        try cache.blocking.remove("a")
        try cache.blocking.remove("b")
        fixture.plan.fail(.write, with: EACCES)
        #expect(errorCode { try cache.blocking.insert([1], for: "c") } == .permissionDenied)
        try cache.blocking.removeAll()
        #expect(log.withLock { $0 } == ["+a 2", "=a 2", "-a", "!a", "-b", "+c 1", "all"])
    }

    @Test("C10 a sweep removes entries older than the age, then the oldest down to half of the size")
    func classicSweep() throws {
        let fixture = try DiskFixture()
        let files = FileSystem()
        for index in 0..<30 {
            try fixture.cache.blocking.insert(pattern(4_000), for: "\(index)")
            let moment = fixture.time.now + .seconds(-index * 86_400)
            try files.setModificationTime(of: fixture.cache.path(for: "\(index)"), to: moment)
        }
        try fixture.directory.write([1], to: "cache/.hidden")
        try fixture.directory.write([2], to: "cache/.folder/old")
        let hidden = fixture.directory.path(of: "cache/.folder/old")
        try files.setModificationTime(of: hidden, to: fixture.time.now + .seconds(-9_999_999))
        let block = fixture.cache.blocking.usage.allocatedSize.bytes / 30
        let first = try fixture.cache.blocking.sweep(
            olderThan: .seconds(20 * 86_400 + 1),
            downTo: ByteCount(100 * block)
        )
        #expect(first == DiskCache.SweepResult(expiredCount: 9, evictedCount: 0))
        let second = try fixture.cache.blocking.sweep(olderThan: .seconds(40 * 86_400), downTo: ByteCount(20 * block))
        #expect(second == DiskCache.SweepResult(expiredCount: 0, evictedCount: 11))
        #expect(try fixture.cache.blocking.contains("9"))
        #expect(try !fixture.cache.blocking.contains("10"))
        #expect(try fixture.directory.contents(of: "cache/.hidden") == [1])
        #expect(try fixture.directory.contents(of: "cache/.folder/old") == [2])
        #expect(fixture.cache.blocking.usage == (try fixture.measuredUsage()))
        #expect(try fixture.cache.blocking.removeEntries(storedBefore: fixture.time.now + .seconds(-5 * 86_400)) == 4)
    }

    @Test("C08 every operation has an asynchronous form")
    func asynchronousForms() async throws {
        let fixture = try DiskFixture()
        let cache = fixture.cache
        try await cache.insert([1], for: "a", metadata: .init(expirationTime: fixture.time.now + .seconds(10)))
        try await cache.insert([2], for: "b")
        #expect(try await cache.contains("a"))
        #expect(try await cache.entries().map(\.key).sorted() == ["a", "b"])
        #expect(try await cache.usage.entryCount == 2)
        fixture.time.advance(by: .seconds(11))
        #expect(try await cache.removeExpired() == 1)
        #expect(try await cache.remove("b") != nil)
        #expect(try await cache.remove("b") == nil)
        try await cache.insert([2], for: "b")
        #expect(try await cache.trim(toSize: .zero) == 1)
        try await cache.removeAll()
        #expect(try await cache.usage == DiskCache.Usage())
    }

    @Test("C08 values, descriptions, verification and sweeps have asynchronous forms")
    func furtherAsynchronousForms() async throws {
        let fixture = try DiskFixture()
        let cache = fixture.cache, note = Note(text: "a", numbers: [1, 2])
        try await cache.insert(note, for: "note", with: .json)
        #expect(try await cache.value(for: "note", with: DiskCache.Serializer<Note>.json) == note)
        #expect(try cache.lookup.info(for: "note")?.key == "note")
        #expect(try cache.lookup.info(for: "other") == nil)
        let verification = try cache.scan.verify()
        #expect(verification.checked == 1)
        #expect(verification.damaged.isEmpty)
        #expect(try await cache.sweep(olderThan: .seconds(1 << 32)) == DiskCache.SweepResult())
        #expect(try await cache.removeEntries(storedBefore: Timestamp(nanoseconds: .max)) == 1)
        #expect(try await cache.usage == DiskCache.Usage())
    }

    @Test("C07 a read in a cancelled task throws cancelled")
    func cancelledQuery() async throws {
        let cache = try DiskFixture().cache
        try await cache.insert([1], for: "a")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await cache.read("a")
        }
        await #expect(throws: EideticError.self) { try await task.value }
    }

    @Test("C05 a read-only cache serves entries and refuses every change")
    func readOnly() throws {
        let fixture = try DiskFixture()
        try fixture.cache.blocking.insert([1], for: "a")
        var configuration = fixture.cache.configuration
        configuration.isReadOnly = true
        let reader = try DiskCache(configuration, fileSystem: FileSystem(), time: fixture.time)
        #expect(try reader.blocking.read("a")?.bytes == [1])
        #expect(reader.blocking.usage == fixture.cache.blocking.usage)
        #expect(errorCode { try reader.blocking.insert([1], for: "b") } == .permissionDenied)
        #expect(errorCode { try reader.blocking.remove("a") } == .permissionDenied)
        #expect(errorCode { try reader.blocking.removeAll() } == .permissionDenied)
        #expect(errorCode { try reader.blocking.removeExpired() } == .permissionDenied)
    }
}
