import EideticCore
import EideticStore
import Glibc

/// The process that is killed: random writes, overwrites, removals, trims and sweeps, for ever.
struct KillWorker {
    let settings: KillSettings

    func run() throws -> Never {
        var generator = SeededGenerator(seed: settings.seed)
        let cache = try settings.cache()
        let journal = try KillJournal(settings.journal)
        print("ready")
        fflush(nil)
        while true { try step(cache, journal, &generator) }
    }

    private func step(_ cache: DiskCache, _ journal: KillJournal, _ generator: inout SeededGenerator) throws {
        // Each worker has keys of its own, so that what it committed last is known.
        let key = Int.random(in: 0..<(KillSettings.keys / 2), using: &generator) * 2 + settings.worker
        let name = KillValue.name(key)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<12:
            var slot = try journal.slot(key)
            slot.doing = max(slot.done, slot.doing) + 1 + UInt32.random(in: 0..<3, using: &generator)
            try journal.set(key, slot)
            try cache.write(KillValue.bytes(key: key, version: slot.doing), for: name)
            try journal.set(key, KillJournal.Slot(done: slot.doing, doing: slot.doing))
        case 12..<16:
            var slot = try journal.slot(key)
            slot.doing = 0
            try journal.set(key, slot)
            try cache.remove(name)
            try journal.set(key, KillJournal.Slot())
        case 16: _ = try cache.read(name)
        case 17:
            guard let entry = try cache.read(name) else { return }
            let number = "\(generator.next())"
            let fields = (0..<8).map { DiskCache.Metadata.Field(name: "field \($0)", value: number) }
            try cache.refresh(entry, with: DiskCache.Metadata(headers: fields))
        case 18: try cache.removeExpired()
        default: if settings.limit < 1 << 26 { try cache.trim(to: ByteCount(settings.limit / 2)) }
        }
    }
}
