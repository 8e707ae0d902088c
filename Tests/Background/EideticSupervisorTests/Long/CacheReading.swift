import EideticCore
import EideticProbeWords
import EideticStore
import EideticTestSupport
import Testing

/// Reads back what killed processes have written into a cache.
struct CacheReading {
    let directory: String

    /// Expects each entry with the version that was stored last, or the one that was being stored at the end.
    func verify(_ words: SharedWords, of writer: String) async throws {
        let cache = try DiskCache(.init(directory: directory))
        var compared = 0
        for number in 0..<ProbeWord.entryCount {
            let stored = words[ProbeWord.version(ofEntry: number)]
            guard stored > 0 else { continue }
            let key = CacheEntry(writer: writer, number: number, version: 0).key
            let bytes = try #require(try await cache.read(key), "\(key) is lost").bytes
            let version = CacheEntry.version(in: bytes)
            #expect(version == stored || version == stored + 1, "\(key) has version \(version), not \(stored)")
            #expect(bytes == CacheEntry(writer: writer, number: number, version: version).bytes, "\(key) is damaged")
            compared += 1
        }
        print("\(writer): \(compared) entries compared")
        #expect(compared > 0)
    }
}
