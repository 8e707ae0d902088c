import EideticCore
import EideticStore
import Glibc

/// The process that is killed: random writes, overwrites, removals, trims and sweeps, for ever.
struct CrashTestWorker {
    let settings: CrashTestSettings

    func run() throws -> Never {
        var generator = SeededGenerator(seed: settings.seed)
        let cache = try settings.openCache()
        let journal = try CrashTestJournal(settings.journal)
        print("ready")
        fflush(nil)
        while true { try step(cache: cache, journal: journal, generator: &generator) }
    }

    private func step(cache: DiskCache, journal: CrashTestJournal, generator: inout SeededGenerator) throws {
        // Each worker has keys of its own, so that what it committed last is known.
        let key = Int.random(in: 0..<(CrashTestSettings.keyCount / 2), using: &generator) * 2 + settings.worker
        let name = CrashTestValue.key(key)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<12:
            var record = try journal.record(for: key)
            record.pendingVersion =
                max(record.committedVersion, record.pendingVersion) + 1 + UInt32.random(in: 0..<3, using: &generator)
            try journal.setRecord(key, to: record)
            try cache.write(CrashTestValue.bytes(key: key, version: record.pendingVersion), for: name)
            try journal.setRecord(
                key,
                to: CrashTestJournal.Record(
                    committedVersion: record.pendingVersion,
                    pendingVersion: record.pendingVersion
                )
            )
        case 12..<16:
            var record = try journal.record(for: key)
            record.pendingVersion = 0
            try journal.setRecord(key, to: record)
            try cache.remove(name)
            try journal.setRecord(key, to: CrashTestJournal.Record())
        case 16: _ = try cache.read(name)
        case 17:
            guard let entry = try cache.read(name) else { return }
            let number = "\(generator.next())"
            let fields = (0..<8).map { DiskCache.Metadata.Field(name: "field \($0)", value: number) }
            try cache.replaceMetadata(of: entry, with: DiskCache.Metadata(headers: fields))
        case 18: try cache.removeExpired()
        default: if settings.limit < 1 << 26 { try cache.trim(toSize: ByteCount(settings.limit / 2)) }
        }
    }
}
