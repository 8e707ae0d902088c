import EideticCore
import EideticTransfer

/// The ends of transfers, until their events are acknowledged.
extension TransferStore {
    /// Records the end of a transfer; its secrets are erased by ``eraseSecrets(upTo:)``.
    func end(
        _ number: UInt64,
        with outcome: TransferEvent.Outcome,
        body: [UInt8]? = nil,
        diskBytes: Int = 0
    ) throws(SystemError) {
        guard var row = rows[number], !row.state.isTerminal, let session = sessions[row.session] else { return }
        let ended = EndedTransfer(transfer: number, event: nextEvent, outcome: outcome, body: body)
        let place = try append(.ended(ended))
        row.event = nextEvent
        row.ended = place
        row.state = outcome.state
        if case .finished(let response) = outcome { row.complete(with: response) }
        nextEvent += 1
        session.application.diskBytes += diskBytes - row.diskBytes
        row.diskBytes = diskBytes
        rows[number] = row
        session.openCount -= 1
        session.insert(event: row.event, transfer: number)
        eventTransfers[row.event] = number
        lastOutcomes[row.event] = outcome
        if row.hasSecret { unerasedSecrets.insert(number) }
    }

    /// Leaves the outcomes of events that were delivered if somebody could take them to the journal.
    func forgetOutcomes(upTo event: UInt64) { lastOutcomes = lastOutcomes.filter { $0.key > event } }

    /// Erases the secrets of transfers whose end is safe; those that cannot be erased are left for the next call.
    func eraseSecrets(upTo event: UInt64) {
        for number in unerasedSecrets {
            guard let row = rows[number] else {
                unerasedSecrets.remove(number)
                continue
            }
            guard row.event <= event, (try? journal.eraseSecret(of: row.added)) != nil else { continue }
            unerasedSecrets.remove(number)
        }
    }

    /// Acknowledges events of an application; returns the paths of files to remove once the journal is synchronised.
    func acknowledge(_ events: [UInt64], by application: TransferApplication) throws(EideticError) -> [String] {
        let known = events.filter { event in
            eventTransfers[event].flatMap { rows[$0] }.flatMap { sessions[$0.session] }?.application === application
        }
        guard !known.isEmpty else { return [] }
        let secrets = known.compactMap { eventTransfers[$0] }.filter(unerasedSecrets.contains)
        try change { () throws(SystemError) in
            for number in secrets { if let row = rows[number] { try journal.eraseSecret(of: row.added) } }
            // The records that are erased are not read any more.
            try journal.append(.counters(nextTransfer: nextTransfer, nextEvent: nextEvent))
            try journal.append(.acknowledged(known))
        }
        var paths: [String] = []
        for event in Set(known) {
            guard let number = eventTransfers[event], let row = rows[number] else { continue }
            paths.append(application.outboxPath(number))
            remove(row, of: application)
        }
        return paths
    }

    /// Removes a transfer, and its records.
    func remove(_ row: TransferRow, of application: TransferApplication) {
        for place in [row.added, row.detail, row.ended] { release(place) }
        let places = [row.added, row.detail, row.ended].compactMap(\.self)
        invalidate(places + (supersededPlaces.removeValue(forKey: row.number) ?? []))
        application.transferCount -= 1
        application.diskBytes -= row.diskBytes
        eventTransfers[row.event] = nil
        sessions[row.session]?.events.removeAll { $0.transfer == row.number }
        rows[row.number] = nil
    }
}
