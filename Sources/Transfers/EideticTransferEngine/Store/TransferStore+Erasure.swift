import EideticCore
import EideticTransfer

// MARK: Erasure
extension TransferStore {
    /// Records that a later record of a transfer has replaced this one.
    func supersede(_ place: JournalPlace?, of number: UInt64) {
        guard let place else { return }
        release(place)
        supersededPlaces[number, default: []].append(place)
    }

    /// Marks records that are not needed any more, which are erased when the marks are safe.
    func invalidate(_ places: [JournalPlace]) {
        // Records without a mark are found at the next start.
        guard (try? journal.invalidate(places)) != nil else { return }
        invalidPlaces += places
    }

    /// Returns the records that are erased after the next synchronisation of the journal, and forgets them.
    func takeInvalidPlaces() -> [JournalPlace] {
        defer { invalidPlaces = [] }
        return invalidPlaces
    }
}

extension Journal.File {
    /// Overwrites records that are marked as invalid with zeros; may be called on any thread.
    func erase(_ places: [JournalPlace], with fileSystem: FileSystem) throws(SystemError) {
        for place in places {
            let zeros = [UInt8](repeating: 0, count: Int(place.length) - Journal.headSize)
            try fileSystem.write(zeros, to: descriptor, at: Int(place.offset) + Journal.headSize)
        }
    }
}
