import EideticCore
import EideticProbeWords
import EideticStore
import Glibc

/// Writes entries into a disk cache again and again, and records the version of each that was stored last.
final class CacheWriter: Sendable {
    private let name: String
    private let words: SharedWords
    private let cache: DiskCache
    /// The FIFO that receives a byte for each stored entry; -1 for none.
    private let reports: Int32

    init(name: String, words: SharedWords, cache: DiskCache, reportPath: String?) {
        self.name = name
        self.words = words
        self.cache = cache
        reports = reportPath.map { open($0, O_WRONLY | O_NONBLOCK | O_CLOEXEC) } ?? -1
    }

    func start() {
        Task.detached { [self] in
            var random = SystemRandomNumberGenerator()
            var version: UInt64 = 0
            while true {
                version += 1
                for number in 0..<ProbeWord.entryCount {
                    await store(number, version: version)
                    // A pause in which no task is open.
                    try? await Task.sleep(for: .microseconds(Int.random(in: 0...3_000, using: &random)))
                }
            }
        }
    }

    private func store(_ number: Int, version: UInt64) async {
        let entry = CacheEntry(writer: name, number: number, version: version)
        do {
            try await cache.insert(entry.bytes, for: entry.key)
            words[ProbeWord.version(ofEntry: number)] = version
            words[ProbeWord.storeCount] += 1
            // A full one has a report that nobody has read.
            withUnsafePointer(to: UInt8(1)) { _ = write(reports, $0, 1) }
        } catch {
            printLine("refused \(entry.key): \(error)")
        }
    }
}
