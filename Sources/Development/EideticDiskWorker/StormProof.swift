package import EideticCore
package import EideticStore
import Glibc

/// What the proof by random operations does, in the order in which it stands on a worker's command line.
package struct StressTestSettings: Sendable {
    package let directory: String
    package let limit: Int
    /// Tells the workers of one directory apart.
    package let worker: Int
    package let seed: UInt64
    /// Operations of each thread at least.
    package let stepCount: Int
    /// How long it goes on at least.
    package let seconds: Int

    package static let threadCount = 8
    package static let workerCount = 2

    package var arguments: [String] {
        ["storm", directory] + ["\(limit)", "\(worker)", "\(seed)", "\(stepCount)", "\(seconds)"]
    }

    package init(directory: String, limit: Int, worker: Int, seed: UInt64, steps: Int, seconds: Int) {
        (self.directory, self.limit, self.worker) = (directory, limit, worker)
        (self.seed, self.stepCount, self.seconds) = (seed, steps, seconds)
    }

    package init?(_ arguments: [String]) {
        guard arguments.count == 7, let limit = Int(arguments[2]), let worker = Int(arguments[3]),
            let seed = UInt64(arguments[4]), let steps = Int(arguments[5]), let seconds = Int(arguments[6])
        else { return nil }
        self.init(directory: arguments[1], limit: limit, worker: worker, seed: seed, steps: steps, seconds: seconds)
    }

    /// Whether entries may go by themselves.
    var evicts: Bool { limit < 1 << 26 }

    package func openCache() throws(EideticError) -> DiskCache {
        var configuration = DiskCache.Configuration(directory: directory)
        configuration.sizeLimit = ByteCount(limit)
        configuration.minimumFreeSpace = .zero
        return try DiskCache(configuration)
    }
}

/// Eight threads at one cache, beside other processes at the same directory: random operations, every answer checked.
///
/// Each thread has keys of its own, so that it knows what may be found there; of the others' keys it knows which bytes
/// belong to which version.
package final class StressTest: Sendable {
    private let settings: StressTestSettings
    private let cache: DiskCache
    private let failures = Guarded<[String]>([])
    private let running: Monitor<Int>

    package init(_ settings: StressTestSettings) throws(EideticError) {
        self.settings = settings
        cache = try settings.openCache()
        running = Monitor(StressTestSettings.threadCount)
    }

    /// Runs to the end; gives what was wrong.
    package func run() -> [String] {
        let end = SystemTime().uptime + .seconds(settings.seconds)
        for thread in 0..<StressTestSettings.threadCount {
            Thread.start(name: "storm") { [self] in
                var work = StressTestThread(number: thread, settings: settings, cache: cache)
                var steps = 0
                while steps < settings.stepCount || SystemTime().uptime < end {
                    steps += 1
                    if let mistake = work.step() { failures.withLock { $0.append(mistake) } }
                }
                running.withLock { $0 -= 1 }
                running.broadcast()
            }
        }
        running.wait { $0 == 0 ? () : nil }
        return failures.withLock { $0 }
    }
}

/// One thread of the proof, with its model of what its keys hold.
private struct StressTestThread {
    private static let keysPerThread = 6

    private let number: Int
    private let settings: StressTestSettings
    private let cache: DiskCache
    private var generator: SeededGenerator
    /// The version of each own key; `nil` where it was removed.
    private var versions: [Int: UInt32] = [:]
    private var latestVersion: UInt32 = 0

    init(number thread: Int, settings: StressTestSettings, cache: DiskCache) {
        number = settings.worker * StressTestSettings.threadCount + thread
        self.settings = settings
        self.cache = cache
        generator = SeededGenerator(seed: settings.seed &+ UInt64(thread) &* 7_919)
    }

    private static var keyCount: Int { StressTestSettings.threadCount * StressTestSettings.workerCount * keysPerThread }

    /// Makes one operation; gives what was wrong with its answer.
    mutating func step() -> String? {
        let key = number * Self.keysPerThread + Int.random(in: 0..<Self.keysPerThread, using: &generator)
        do throws(EideticError) {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<30: return try write(key)
            case 30..<40: return try remove(key)
            case 40..<70: return verify(key: key, bytes: try cache.read(StressTestValue.key(key))?.bytes)
            case 70..<90: return try checkForeignKey(Int.random(in: 0..<Self.keyCount, using: &generator))
            case 90..<95: return try checkInfo(of: key)
            case 95: try cache.removeExpired()
            case 96: if settings.evicts { try cache.trim(toSize: ByteCount(settings.limit / 2)) }
            case 97: return try checkEntryCount()
            default:
                let used = cache.usage.allocatedSize.bytes
                if used > settings.limit { return "\(used) bytes are used, above the limit" }
            }
            return nil
        } catch {
            return "key \(key): \(error)"
        }
    }

    private mutating func write(_ key: Int) throws(EideticError) -> String? {
        latestVersion += 1
        try cache.write(StressTestValue.bytes(key: key, version: latestVersion), for: StressTestValue.key(key))
        versions[key] = latestVersion
        return nil
    }

    private mutating func remove(_ key: Int) throws(EideticError) -> String? {
        let existed = try cache.remove(StressTestValue.key(key))
        defer { versions[key] = nil }
        guard existed != (versions[key] != nil), !(settings.evicts && !existed) else { return nil }
        return "removing key \(key) told that it was \(existed ? "" : "not ")there"
    }

    /// What is read of an own key is what was written last, or nothing where it may have been evicted.
    private func verify(key: Int, bytes: [UInt8]?) -> String? {
        guard let bytes else {
            return versions[key] == nil || settings.evicts ? nil : "key \(key) is lost"
        }
        guard let version = versions[key] else { return "key \(key) was removed and is there" }
        return bytes == StressTestValue.bytes(key: key, version: version) ? nil : "key \(key) has other bytes"
    }

    private func checkForeignKey(_ key: Int) throws(EideticError) -> String? {
        guard let entry = try cache.read(StressTestValue.key(key)) else { return nil }
        guard entry.key == StressTestValue.key(key) else { return "key \(key) gave \(entry.key)" }
        return StressTestValue.isValue(entry.bytes, of: key)
            ? nil : "key \(key) of another thread has bytes of no version"
    }

    private func checkInfo(of key: Int) throws(EideticError) -> String? {
        guard let info = try cache.info(for: StressTestValue.key(key)) else { return nil }
        guard let version = versions[key] else { return "key \(key) was removed and is described" }
        let size = StressTestValue.bytes(key: key, version: version).count
        return info.size.bytes == size ? nil : "key \(key) is described with \(info.size.bytes) bytes, not \(size)"
    }

    private func checkEntryCount() throws(EideticError) -> String? {
        try cache.entries().count > Self.keyCount ? "more entries than keys" : nil
    }
}

/// The one value that belongs to a key and a version, which it names itself.
private enum StressTestValue {
    static func key(_ key: Int) -> String { "https://example.org/storm/\(key).webp" }

    static func bytes(key: Int, version: UInt32) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(key) << 32 | UInt64(version))
        let size = Int(generator.next() % (version % 16 == 0 ? 60_000 : 4_000))
        var bytes: [UInt8] = (0..<4).map { UInt8(truncatingIfNeeded: version >> UInt32(8 * $0)) }
        bytes += (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 37 ^ key ^ Int(version) &* 11) }
        return bytes
    }

    static func isValue(_ value: [UInt8], of key: Int) -> Bool {
        guard value.count >= 4 else { return false }
        let version = value.prefix(4).enumerated().reduce(UInt32(0)) {
            $0 | UInt32($1.element) << UInt32(8 * $1.offset)
        }
        return value == bytes(key: key, version: version)
    }
}
