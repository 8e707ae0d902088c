import EideticCore
import EideticHTTP
import EideticStore
import Glibc

/// The process to be killed: writes, replaces, removes, trims and sweeps at random until then.
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
        // Each worker has keys of its own, so that the journal has their last committed versions.
        let key = Int.random(in: 0..<(CrashTestSettings.keyCount / 2), using: &generator) * 2 + settings.worker
        let name = CrashTestValue.key(key)
        switch Int.random(in: 0..<23, using: &generator) {
        case 0..<12:
            var record = try journal.record(for: key)
            let step = UInt32.random(in: 1...3, using: &generator)
            record.pendingVersion = max(record.committedVersion, record.pendingVersion) + step
            try journal.setRecord(record, for: key)
            try cache.blocking.insert(CrashTestValue.bytes(key: key, version: record.pendingVersion), for: name)
            record.committedVersion = record.pendingVersion
            try journal.setRecord(record, for: key)
        case 12..<16:
            var record = try journal.record(for: key)
            record.pendingVersion = 0
            try journal.setRecord(record, for: key)
            _ = try cache.blocking.remove(name)
            try journal.setRecord(CrashTestJournal.Record(), for: key)
        case 16: _ = try cache.blocking.read(name)
        case 17:
            guard let entry = try cache.blocking.read(name) else { return }
            let number = "\(generator.next())"
            let fields = (0..<8).map { HTTPHeaders.Field(name: "field \($0)", value: number) }
            try cache.writer.replaceMetadata(of: entry, with: DiskCache.Metadata(headers: fields))
        case 18..<21:
            // As a pipeline does that keeps derived images.
            guard let bytes = try cache.blocking.read(name)?.bytes else { return }
            var metadata = DiskCache.Metadata()
            metadata.kind = .derived
            try cache.blocking.insert(Array(bytes.prefix(100)), for: "\(name)\n100x100", metadata: metadata)
        case 21: try cache.blocking.removeExpired()
        default: if settings.limit < 1 << 26 { try cache.blocking.trim(toSize: ByteCount(settings.limit / 2)) }
        }
    }
}
