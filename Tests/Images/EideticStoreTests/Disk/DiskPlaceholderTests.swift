import EideticCore
import EideticHTTP
import EideticStore
import EideticTestSupport
import Testing

@Suite("Disk cache: originals that derived images have replaced")
struct DiskPlaceholderTests {
    private func checksum(of bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { Checksum.value(of: $0) } }

    private func replace(_ bytes: [UInt8], for key: String, in cache: DiskCache) async throws {
        try await cache.replaceOriginalByPlaceholder(key, checksum: checksum(of: bytes), within: try cache.beginWork())
    }

    @Test("C23 a placeholder keeps the checksum and the fields of its original; other bytes stay")
    func placeholder() async throws {
        let fixture = try DiskFixture(), cache = fixture.cache, old = pattern(3_000), key = "k\nsecret:" + Self.digits
        let metadata = DiskCache.Metadata(headers: [.init(name: "ETag", value: "1")])
        try cache.blocking.insert(old, for: key, metadata: metadata)
        try await replace(pattern(3_000, seed: 1), for: key, in: cache)
        #expect(try cache.blocking.read(key)?.bytes == old)
        try await replace(old, for: key, in: cache)
        #expect(try cache.blocking.read(key) == nil)
        let original = try #require(try cache.blocking.original(for: key))
        #expect(original.checksum == checksum(of: old) && original.metadata.headers == metadata.headers)
        #expect(try fixture.secondCache().blocking.original(for: key)?.checksum == checksum(of: old))
        #expect(cache.blocking.usage == (try fixture.measuredUsage()))
        try cache.blocking.removeOriginal(key)
        #expect(try cache.blocking.original(for: key) == nil && cache.blocking.usage == DiskCache.Usage())
    }

    private static let digits = String(repeating: "a", count: 64)

    @Test("C23 a new original takes the place of a placeholder for ever", arguments: [3_000, 300_000])
    func newOriginal(size: Int) async throws {
        let fixture = try DiskFixture(), cache = fixture.cache, old = pattern(3_000)
        try cache.blocking.insert(old, for: "k")
        try await replace(old, for: "k", in: cache)
        try fixture.secondCache().blocking.insert(pattern(size, seed: 1), for: "k")
        #expect(cache.blocking.usage == (try fixture.measuredUsage()) && cache.blocking.usage.entryCount == 1)
        _ = try cache.blocking.remove("k")
        #expect(try cache.blocking.original(for: "k") == nil)
    }

    @Test("C23 C19 a new original that is stored during the replacement of the old one stays")
    func race() async throws {
        let fixture = try DiskFixture(), cache = fixture.cache, other = try fixture.secondCache()
        for round in 0..<Torture.repetitions(200, full: 5_000) {
            let key = "\(round % 4)", old = pattern(100, seed: 2 * round), new = pattern(100, seed: 2 * round + 1)
            try cache.blocking.insert(old, for: key)
            async let replacement: Void = replace(old, for: key, in: cache)
            async let write: Void = other.insert(new, for: key)
            _ = try await (replacement, write)
            #expect(try cache.blocking.read(key)?.bytes == new, "round \(round)")
            #expect(try cache.blocking.original(for: key)?.checksum == checksum(of: new), "round \(round)")
        }
    }
}
