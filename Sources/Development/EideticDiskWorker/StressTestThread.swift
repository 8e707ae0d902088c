import EideticCore
import EideticStore

/// One thread of the test, with a model of the entries of its keys.
struct StressTestThread {
    private static let keysPerThread = 6

    private let number: Int
    private let settings: StressTestSettings
    private let cache: DiskCache
    private var generator: SeededGenerator
    /// The current version of each own key; `nil` if it was removed.
    private var versions: [Int: UInt32] = [:]
    private var latestVersion: UInt32 = 0

    init(number: Int, settings: StressTestSettings, cache: DiskCache) {
        self.number = settings.worker * StressTestSettings.threadCount + number
        self.settings = settings
        self.cache = cache
        generator = SeededGenerator(seed: settings.seed &+ UInt64(number) &* 7_919)
    }

    private static var keyCount: Int {
        StressTestSettings.threadCount * StressTestSettings.workerCount * keysPerThread
    }

    /// Performs one random operation, and returns a description of a wrong result.
    mutating func step() -> String? {
        let key = number * Self.keysPerThread + Int.random(in: 0..<Self.keysPerThread, using: &generator)
        do throws(EideticError) {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<30: return try write(key)
            case 30..<40: return try remove(key)
            case 40..<70: return verify(key: key, bytes: try cache.blocking.read(StressTestValue.key(key))?.bytes)
            case 70..<90: return try checkForeignKey(Int.random(in: 0..<Self.keyCount, using: &generator))
            case 90..<95: return try checkInfo(of: key)
            case 95: try cache.blocking.removeExpired()
            case 96: if settings.evicts { try cache.blocking.trim(toSize: ByteCount(settings.limit / 2)) }
            case 97: return try checkEntryCount()
            default:
                let used = cache.blocking.usage.allocatedSize.bytes
                if used > settings.limit { return "\(used) bytes are used, above the limit" }
            }
            return nil
        } catch {
            return "key \(key): \(error)"
        }
    }

    private mutating func write(_ key: Int) throws(EideticError) -> String? {
        latestVersion += 1
        try cache.blocking.insert(
            StressTestValue.bytes(key: key, version: latestVersion),
            for: StressTestValue.key(key)
        )
        versions[key] = latestVersion
        return nil
    }

    private mutating func remove(_ key: Int) throws(EideticError) -> String? {
        let existed = try cache.blocking.remove(StressTestValue.key(key)) != nil
        defer { versions[key] = nil }
        guard existed != (versions[key] != nil), !(settings.evicts && !existed) else { return nil }
        return "removing key \(key) returned \(existed)"
    }

    /// Checks that the bytes of an own key are those written last, or absent if the entry may have been evicted.
    private func verify(key: Int, bytes: [UInt8]?) -> String? {
        guard let bytes else {
            return versions[key] == nil || settings.evicts ? nil : "key \(key) is lost"
        }
        guard let version = versions[key] else { return "key \(key) was removed and still has an entry" }
        return bytes == StressTestValue.bytes(key: key, version: version) ? nil : "key \(key) has other bytes"
    }

    private func checkForeignKey(_ key: Int) throws(EideticError) -> String? {
        guard let entry = try cache.blocking.read(StressTestValue.key(key)) else { return nil }
        guard entry.key == StressTestValue.key(key) else { return "key \(key) returned the entry of \(entry.key)" }
        return StressTestValue.isValue(entry.bytes, of: key)
            ? nil : "key \(key) of another thread has bytes of no version"
    }

    private func checkInfo(of key: Int) throws(EideticError) -> String? {
        guard let info = try cache.lookup.info(for: StressTestValue.key(key)) else { return nil }
        guard let version = versions[key] else { return "key \(key) was removed and still has an info" }
        let size = StressTestValue.bytes(key: key, version: version).count
        return info.size.bytes == size ? nil : "the info of key \(key) has \(info.size.bytes) bytes, not \(size)"
    }

    private func checkEntryCount() throws(EideticError) -> String? {
        try cache.blocking.entries().count > Self.keyCount ? "more entries than keys" : nil
    }
}
