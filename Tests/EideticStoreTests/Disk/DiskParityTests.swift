import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Disk cache: parity")
struct DiskParityTests {
    private struct Note: Codable, Equatable, Sendable {
        let text: String
        let numbers: [Int]
    }

    @Test("C16 any Codable value is stored, and what cannot be read back says so")
    func codable() throws {
        let cache = try DiskFixture().cache
        let note = Note(text: "a", numbers: [1, 2])
        try cache.write(note, for: "note", with: .json)
        #expect(try cache.value(for: "note", with: DiskCache.Serializer<Note>.json) == note)
        #expect(try cache.value(for: "other", with: DiskCache.Serializer<Note>.json) == nil)
        try cache.write([1, 2, 3], for: "bytes")
        #expect(errorCode { _ = try cache.value(for: "bytes", with: DiskCache.Serializer<Note>.json) } == .corrupt)
        #expect(errorCode { try cache.write(Double.nan, for: "nan", with: .json) } == .encodingFailed)
    }

    @Test("C16 hooks are called around changes, without a lock, and not for what fails")
    func hooks() throws {
        let fixture = try DiskFixture()
        let cache = fixture.cache
        let log = Guarded<[String]>([])
        var hooks = DiskCache.Hooks()
        // Calling back would hang if a lock were held.
        hooks.willAdd = { [weak cache] key, size in
            log.withLock { $0.append("+\(key) \(size)") }; _ = cache?.usage
        }
        hooks.didAdd = { [weak cache] key, size in
            log.withLock { $0.append("=\(key) \(size)") }; _ = cache?.usage
        }
        hooks.willRemove = { key in log.withLock { $0.append("-\(key)") } }
        hooks.didRemove = { [weak cache] key in
            log.withLock { $0.append("!\(key)") }; _ = try? cache?.read(key)
        }
        hooks.didRemoveAll = { log.withLock { $0.append("all") } }
        cache.setHooks(hooks)
        try cache.write([1, 2], for: "a")
        try cache.remove("a")
        try cache.remove("b")
        fixture.plan.fail(.write, with: EACCES)
        #expect(errorCode { try cache.write([1], for: "c") } == .permissionDenied)
        try cache.removeAll()
        #expect(log.withLock { $0 } == ["+a 2", "=a 2", "-a", "!a", "-b", "+c 1", "all"])
    }

    @Test("C16 a directory of a hundred entries is taken over, without what is damaged, expired or here already")
    func migration() throws {
        let source = try DiskFixture()
        for index in 0..<100 { try source.cache.write(pattern(index), for: "\(index)") }
        try source.cache.write([1], for: "old", metadata: .init(expirationTime: source.time.now))
        let damaged = source.cache.path(for: "7")
        try FileSystem().truncate(try FileSystem().open(damaged, flags: O_WRONLY), to: 20)
        let target = try DiskFixture()
        try target.cache.write([9], for: "5")
        #expect(try target.cache.importEntries(from: source.cache.configuration.directory) == 98)
        #expect(try target.cache.read("5")?.bytes == [9])
        #expect(try target.cache.read("99")?.bytes == pattern(99))
        #expect(try target.cache.read("7") == nil)
        #expect(try source.measuredUsage().entryCount == 101)
    }

    @Test("C10 the classic sweep removes what is older than the age, then the oldest to half of the size")
    func classicSweep() throws {
        let fixture = try DiskFixture()
        let files = FileSystem()
        for index in 0..<30 {
            try fixture.cache.write(pattern(4_000), for: "\(index)")
            let moment = fixture.time.now + .seconds(-index * 86_400)
            try files.setModificationTime(of: fixture.cache.path(for: "\(index)"), to: moment)
        }
        try fixture.directory.write([1], to: "cache/.hidden")
        let block = fixture.cache.usage.allocatedSize.bytes / 30
        let first = try fixture.cache.sweep(olderThan: .seconds(20 * 86_400 + 1), downTo: ByteCount(100 * block))
        #expect(first == DiskCache.SweepResult(expiredCount: 9, evictedCount: 0))
        let second = try fixture.cache.sweep(olderThan: .seconds(40 * 86_400), downTo: ByteCount(20 * block))
        #expect(second == DiskCache.SweepResult(expiredCount: 0, evictedCount: 11))
        #expect(try fixture.cache.contains("9"))
        #expect(try !fixture.cache.contains("10"))
        #expect(try fixture.directory.contents(of: "cache/.hidden") == [1])
        #expect(fixture.cache.usage == (try fixture.measuredUsage()))
        #expect(try fixture.cache.removeEntries(storedBefore: fixture.time.now + .seconds(-5 * 86_400)) == 4)
    }

    @Test("C08 every verb has an asynchronous form")
    func asynchronousForms() async throws {
        let fixture = try DiskFixture()
        let cache = fixture.cache
        try await cache.insert([1], for: "a", metadata: .init(expirationTime: fixture.time.now + .seconds(10)))
        try await cache.insert([2], for: "b")
        #expect(try await cache.containsValue(for: "a"))
        #expect(try await cache.listedEntries().map(\.key).sorted() == ["a", "b"])
        #expect(try await cache.currentUsage().entryCount == 2)
        fixture.time.advance(by: .seconds(11))
        #expect(try await cache.removeExpiredValues() == 1)
        #expect(try await cache.removeValue(for: "b"))
        #expect(try await !cache.removeValue(for: "b"))
        try await cache.insert([2], for: "b")
        #expect(try await cache.trimValues(to: .zero) == 1)
        try await cache.removeAllValues()
        #expect(try await cache.currentUsage() == DiskCache.Usage())
    }

    @Test("C07 a query whose task is cancelled answers cancelled")
    func cancelledQuery() async throws {
        let cache = try DiskFixture().cache
        try await cache.insert([1], for: "a")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await cache.value(for: "a")
        }
        await #expect(throws: EideticError.self) { try await task.value }
    }

    @Test("C05 a cache opened for reading serves and refuses to change anything")
    func readOnly() throws {
        let fixture = try DiskFixture()
        try fixture.cache.write([1], for: "a")
        var configuration = fixture.cache.configuration
        configuration.isReadOnly = true
        let reader = try DiskCache(configuration, fileSystem: FileSystem(), time: fixture.time)
        #expect(try reader.read("a")?.bytes == [1])
        #expect(reader.usage == fixture.cache.usage)
        #expect(errorCode { try reader.write([1], for: "b") } == .permissionDenied)
        #expect(errorCode { try reader.remove("a") } == .permissionDenied)
        #expect(errorCode { try reader.removeAll() } == .permissionDenied)
        #expect(errorCode { try reader.removeExpired() } == .permissionDenied)
    }
}
