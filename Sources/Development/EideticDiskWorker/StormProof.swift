package import EideticCore
package import EideticStore
import Glibc

/// What the proof by random operations does, in the order in which it stands on a worker's command line.
package struct StormSettings: Sendable {
    package let directory: String
    package let limit: Int
    /// Tells the workers of one directory apart.
    package let worker: Int
    package let seed: UInt64
    /// Operations of each thread at least.
    package let steps: Int
    /// How long it goes on at least.
    package let seconds: Int

    package static let threads = 8
    package static let workers = 2

    package var arguments: [String] {
        ["storm", directory] + ["\(limit)", "\(worker)", "\(seed)", "\(steps)", "\(seconds)"]
    }

    package init(directory: String, limit: Int, worker: Int, seed: UInt64, steps: Int, seconds: Int) {
        (self.directory, self.limit, self.worker) = (directory, limit, worker)
        (self.seed, self.steps, self.seconds) = (seed, steps, seconds)
    }

    package init?(_ arguments: [String]) {
        guard arguments.count == 7, let limit = Int(arguments[2]), let worker = Int(arguments[3]),
            let seed = UInt64(arguments[4]), let steps = Int(arguments[5]), let seconds = Int(arguments[6])
        else { return nil }
        self.init(directory: arguments[1], limit: limit, worker: worker, seed: seed, steps: steps, seconds: seconds)
    }

    /// Whether entries may go by themselves.
    var evicts: Bool { limit < 1 << 26 }

    package func cache() throws(EideticError) -> DiskCache {
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
package final class StormProof: Sendable {
    private let settings: StormSettings
    private let cache: DiskCache
    private let mistakes = Guarded<[String]>([])
    private let running: Monitor<Int>

    package init(_ settings: StormSettings) throws(EideticError) {
        self.settings = settings
        cache = try settings.cache()
        running = Monitor(StormSettings.threads)
    }

    /// Runs to the end; gives what was wrong.
    package func run() -> [String] {
        let end = SystemTime().uptime + .seconds(settings.seconds)
        for thread in 0..<StormSettings.threads {
            Thread.start(name: "storm") { [self] in
                var work = StormThread(thread, settings, cache)
                var steps = 0
                while steps < settings.steps || SystemTime().uptime < end {
                    steps += 1
                    if let mistake = work.step() { mistakes.withLock { $0.append(mistake) } }
                }
                running.withLock { $0 -= 1 }
                running.broadcast()
            }
        }
        running.wait { $0 == 0 ? () : nil }
        return mistakes.withLock { $0 }
    }
}

/// One thread of the proof, with its model of what its keys hold.
private struct StormThread {
    private static let keysEach = 6

    private let number: Int
    private let settings: StormSettings
    private let cache: DiskCache
    private var generator: SeededGenerator
    /// The version of each own key; `nil` where it was removed.
    private var versions: [Int: UInt32] = [:]
    private var last: UInt32 = 0

    init(_ thread: Int, _ settings: StormSettings, _ cache: DiskCache) {
        number = settings.worker * StormSettings.threads + thread
        self.settings = settings
        self.cache = cache
        generator = SeededGenerator(seed: settings.seed &+ UInt64(thread) &* 7_919)
    }

    private static var all: Int { StormSettings.threads * StormSettings.workers * keysEach }

    /// Makes one operation; gives what was wrong with its answer.
    mutating func step() -> String? {
        let key = number * Self.keysEach + Int.random(in: 0..<Self.keysEach, using: &generator)
        do throws(EideticError) {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<30: return try write(key)
            case 30..<40: return try remove(key)
            case 40..<70: return check(key, try cache.read(StormValue.name(key))?.bytes)
            case 70..<90: return try foreign(Int.random(in: 0..<Self.all, using: &generator))
            case 90..<95: return try describe(key)
            case 95: try cache.removeExpired()
            case 96: if settings.evicts { try cache.trim(to: ByteCount(settings.limit / 2)) }
            case 97: return try listed()
            default:
                let used = cache.usage.allocated.bytes
                if used > settings.limit { return "\(used) bytes are used, above the limit" }
            }
            return nil
        } catch {
            return "key \(key): \(error)"
        }
    }

    private mutating func write(_ key: Int) throws(EideticError) -> String? {
        last += 1
        try cache.write(StormValue.bytes(key: key, version: last), for: StormValue.name(key))
        versions[key] = last
        return nil
    }

    private mutating func remove(_ key: Int) throws(EideticError) -> String? {
        let wasThere = try cache.remove(StormValue.name(key))
        defer { versions[key] = nil }
        guard wasThere != (versions[key] != nil), !(settings.evicts && !wasThere) else { return nil }
        return "removing key \(key) told that it was \(wasThere ? "" : "not ")there"
    }

    /// What is read of an own key is what was written last, or nothing where it may have been evicted.
    private func check(_ key: Int, _ bytes: [UInt8]?) -> String? {
        guard let bytes else {
            return versions[key] == nil || settings.evicts ? nil : "key \(key) is lost"
        }
        guard let version = versions[key] else { return "key \(key) was removed and is there" }
        return bytes == StormValue.bytes(key: key, version: version) ? nil : "key \(key) has other bytes"
    }

    private func foreign(_ key: Int) throws(EideticError) -> String? {
        guard let entry = try cache.read(StormValue.name(key)) else { return nil }
        guard entry.key == StormValue.name(key) else { return "key \(key) gave \(entry.key)" }
        return StormValue.isValue(entry.bytes, key) ? nil : "key \(key) of another thread has bytes of no version"
    }

    private func describe(_ key: Int) throws(EideticError) -> String? {
        guard let info = try cache.info(for: StormValue.name(key)) else { return nil }
        guard let version = versions[key] else { return "key \(key) was removed and is described" }
        let size = StormValue.bytes(key: key, version: version).count
        return info.size.bytes == size ? nil : "key \(key) is described with \(info.size.bytes) bytes, not \(size)"
    }

    private func listed() throws(EideticError) -> String? {
        try cache.entries().count > Self.all ? "more entries than keys" : nil
    }
}

/// The one value that belongs to a key and a version, which it names itself.
private enum StormValue {
    static func name(_ key: Int) -> String { "https://example.org/storm/\(key).webp" }

    static func bytes(key: Int, version: UInt32) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(key) << 32 | UInt64(version))
        let size = Int(generator.next() % (version % 16 == 0 ? 60_000 : 4_000))
        var bytes: [UInt8] = (0..<4).map { UInt8(truncatingIfNeeded: version >> UInt32(8 * $0)) }
        bytes += (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 37 ^ key ^ Int(version) &* 11) }
        return bytes
    }

    static func isValue(_ value: [UInt8], _ key: Int) -> Bool {
        guard value.count >= 4 else { return false }
        let version = value.prefix(4).enumerated().reduce(UInt32(0)) {
            $0 | UInt32($1.element) << UInt32(8 * $1.offset)
        }
        return value == bytes(key: key, version: version)
    }
}
