import EideticCore
import EideticTransfer

/// The state that the records of a journal lead to.
final class StoreReplay {
    struct Session {
        var application: String
        var identity: [UInt8]
        var configuration: TransferSessionConfiguration
        var place: JournalPlace
    }

    struct Transfer {
        var added: AddedTransfer
        var place: JournalPlace
        var detail: JournalPlace?
        /// The records that later ones have replaced.
        var superseded: [JournalPlace] = []
        var part: PartDescription?
        var ended: JournalPlace?
        var event: UInt64 = 0
        var outcome: TransferEvent.Outcome?
        var hasBody = false
        var mark = 0
        var isPaused = false
    }

    private(set) var boot: String?
    private(set) var sessions: [UInt32: Session] = [:]
    private(set) var transfers: [UInt64: Transfer] = [:]
    private(set) var nextTransfer: UInt64 = 1
    private(set) var nextEvent: UInt64 = 1
    private(set) var nextSession: UInt32 = 1
    /// The records of transfers that are not in the store any more, which are to be erased.
    private(set) var unneeded: [JournalPlace] = []
    private var transferOfEvent: [UInt64: UInt64] = [:]

    /// Applies the next record.
    func apply(_ record: JournalRecord, at place: JournalPlace) {
        switch record {
        case .counters(let nextTransfer, let nextEvent):
            self.nextTransfer = nextTransfer
            self.nextEvent = nextEvent
        case .boot(let boot): self.boot = boot
        case .session(let number, let application, let identity, let configuration):
            sessions[number] = Session(
                application: application,
                identity: identity,
                configuration: configuration,
                place: place
            )
            nextSession = max(nextSession, number &+ 1)
        case .sessionRemoved(let number): removeSession(number)
        case .added(let added): insert(added, at: place)
        case .response(let number, let part):
            setDetail(place, of: number)
            transfers[number]?.part = part
            transfers[number]?.mark = 0
        case .mark(let number, let offset): transfers[number]?.mark = offset
        case .uploadLocation(let number, _, _): setDetail(place, of: number)
        case .paused(let number, let isPaused): transfers[number]?.isPaused = isPaused
        case .ended(let ended): end(ended, at: place)
        case .acknowledged(let events):
            for event in events {
                if let number = transferOfEvent.removeValue(forKey: event) { remove(number) }
            }
        }
    }

    private func insert(_ added: AddedTransfer, at place: JournalPlace) {
        // The request is read again when it is needed: 10,000 of them would be in memory.
        var added = added
        added.request.note = []
        transfers[added.number] = Transfer(added: added, place: place)
        nextTransfer = max(nextTransfer, added.number &+ 1)
    }

    private func setDetail(_ place: JournalPlace, of number: UInt64) {
        guard let transfer = transfers[number] else { return unneeded.append(place) }
        if let earlier = transfer.detail { transfers[number]?.superseded.append(earlier) }
        transfers[number]?.detail = place
    }

    private func remove(_ number: UInt64) {
        guard let transfer = transfers.removeValue(forKey: number) else { return }
        unneeded += [transfer.place, transfer.detail, transfer.ended].compactMap(\.self) + transfer.superseded
    }

    private func end(_ ended: EndedTransfer, at place: JournalPlace) {
        guard transfers[ended.transfer] != nil else { return unneeded.append(place) }
        transfers[ended.transfer]?.ended = place
        transfers[ended.transfer]?.event = ended.event
        transfers[ended.transfer]?.outcome = ended.outcome
        transfers[ended.transfer]?.hasBody = ended.body != nil
        transferOfEvent[ended.event] = ended.transfer
        nextEvent = max(nextEvent, ended.event &+ 1)
    }

    private func removeSession(_ number: UInt32) {
        sessions[number] = nil
        for (transfer, value) in transfers where value.added.session == number {
            transferOfEvent[value.event] = nil
            remove(transfer)
        }
    }
}
