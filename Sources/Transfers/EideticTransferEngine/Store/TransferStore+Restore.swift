import EideticCore
import EideticFetch
import EideticTransfer
import Glibc

extension TransferStore {
    /// Builds the state from the journal, and makes the files agree with it.
    func restore(_ replay: StoreReplay) throws(SystemError) {
        nextTransfer = replay.nextTransfer
        nextEvent = replay.nextEvent
        nextSession = replay.nextSession
        for (number, session) in replay.sessions { restore(session, number: number) }
        let isSameBoot = replay.boot == boot
        for number in replay.transfers.keys.sorted() {
            guard let transfer = replay.transfers[number], let session = sessions[transfer.added.session] else {
                continue
            }
            try restore(transfer, in: session, isSameBoot: isSameBoot)
        }
        if !isSameBoot { try journal.append(.boot(boot)) }
        if !replay.unneeded.isEmpty {
            try journal.append(.counters(nextTransfer: nextTransfer, nextEvent: nextEvent))
        }
        try journal.flush()
        try journal.invalidate(replay.unneeded)
        try fileSystem.synchronizeData(journal.file.descriptor)
        try journal.file.erase(replay.unneeded, with: fileSystem)
        try removeStrayFiles()
    }

    private func restore(_ session: StoreReplay.Session, number: UInt32) {
        let application = application(named: session.application)
        if !session.identity.isEmpty { application.identity = session.identity }
        let restored = TransferSession(
            number: number,
            application: application,
            configuration: session.configuration,
            place: session.place
        )
        restored.identity = session.identity
        sessions[number] = restored
        application.sessions[session.configuration.identifier] = restored
        liveBytes += UInt64(session.place.length)
    }

    private func restore(
        _ transfer: StoreReplay.Transfer,
        in session: TransferSession,
        isSameBoot: Bool
    ) throws(SystemError) {
        let added = transfer.added
        var row = row(of: added, at: transfer.place, in: session)
        row.detail = transfer.detail
        row.ended = transfer.ended
        row.event = transfer.event
        row.mark = transfer.mark
        if !transfer.superseded.isEmpty { supersededPlaces[added.number] = transfer.superseded }
        row.state = transfer.outcome?.state ?? (transfer.isPaused ? .paused : .waiting)
        row.total = transfer.part?.totalLength
        if case .cancelled(.userForceQuit, _) = transfer.outcome {
            session.announcedEvent = max(session.announcedEvent, transfer.event)
        }
        if row.state.isTerminal {
            try restoreOutbox(&row, of: transfer, in: session, isSameBoot: isSameBoot)
        } else {
            try restorePart(&row, of: added, in: session, isSameBoot: isSameBoot)
        }
        insert(row, in: session)
    }

    /// Makes the part file of a transfer that has not ended agree with what is certain about it.
    private func restorePart(
        _ row: inout TransferRow,
        of added: AddedTransfer,
        in session: TransferSession,
        isSameBoot: Bool
    ) throws(SystemError) {
        row.diskBytes = added.uploadLength
        if row.kind == .upload { row.total = added.uploadLength }
        guard row.kind == .download, row.detail != nil else { return }
        try takeBack(&row, of: session.application)
        let path = session.application.partPath(row.number)
        guard let size = try? fileSystem.status(of: path).size else { return row.detail = nil }
        row.completed = size
        if !isSameBoot, size > row.mark {
            // What was written after the mark may not have reached the device.
            let file = try fileSystem.open(path, flags: O_RDWR)
            try fileSystem.truncate(file, to: row.mark)
            try fileSystem.synchronize(file)
            row.completed = row.mark
        }
        row.diskBytes = row.completed
    }

    /// Makes the file of a complete download its part again, if its end was not recorded any more.
    ///
    /// A part is moved to the outbox when it is complete and safe, so its length is that of the body. The file of a
    /// body with a content coding is another one.
    private func takeBack(_ row: inout TransferRow, of application: TransferApplication) throws(SystemError) {
        let source = application.outboxPath(row.number)
        let target = application.partPath(row.number)
        guard (try? fileSystem.status(of: target)) == nil, let size = try? fileSystem.status(of: source).size,
            let place = row.detail, case .response(_, var part) = try journal.record(at: place).record,
            part.totalLength == nil || part.totalLength == size, BodyDecoder.codings(of: part.headers).codings.isEmpty
        else { return }
        part.totalLength = size
        row.detail = try journal.append(.response(transfer: row.number, part))
        try journal.append(.mark(transfer: row.number, offset: size))
        try journal.flush()
        try fileSystem.rename(source, to: target)
        row.mark = size
        row.total = size
    }

    /// Makes the file of a transfer that has finished agree with its event.
    private func restoreOutbox(
        _ row: inout TransferRow,
        of transfer: StoreReplay.Transfer,
        in session: TransferSession,
        isSameBoot: Bool
    ) throws(SystemError) {
        let application = session.application
        if row.kind == .upload { fileSystem.removeIfPresent(application.uploadPath(row.number)) }
        try journal.eraseSecret(of: row.added)
        guard case .finished(let response) = transfer.outcome else { return }
        row.complete(with: response)
        row.diskBytes = response.length
        guard !isSameBoot, transfer.hasBody, let place = row.ended,
            case .ended(let ended) = try journal.record(at: place).record, let body = ended.body
        else { return }
        try fileSystem.replaceContents(of: application.outboxPath(row.number), with: body, mode: 0o600)
    }

    /// Returns the uptime at which a transfer fails.
    ///
    /// The time before it may begin does not count. Within a boot its age is that of the clock that never jumps; the
    /// time of day counts after another boot only.
    func deadline(of added: AddedTransfer, in session: TransferSession) -> Duration {
        let isSameBoot = added.boot == bootNumber
        let age = isSameBoot ? time.uptime - added.createdUptime : time.now - added.created
        let wait = added.request.earliestBegin.map { max(.zero, $0 - added.created) } ?? .zero
        return time.uptime - max(.zero, age) + wait + session.configuration.resourceTimeout
    }

    /// Adds a row to the totals of its session and application.
    func insert(_ row: TransferRow, in session: TransferSession) {
        rows[row.number] = row
        for place in [row.added, row.detail, row.ended] { liveBytes += UInt64(place?.length ?? 0) }
        session.application.transferCount += 1
        session.application.diskBytes += row.diskBytes
        if row.state.isTerminal {
            session.insert(event: row.event, transfer: row.number)
            eventTransfers[row.event] = row.number
        } else {
            session.openCount += 1
        }
    }

    /// Removes the files of transfers that are not in the journal.
    private func removeStrayFiles() throws(SystemError) {
        for application in applications.values {
            for name in TransferApplication.subdirectories {
                let directory = "\(application.directory)/\(name)"
                try fileSystem.makeDirectories(directory)
                for file in try fileSystem.entryNames(in: directory) where isStray(file, in: name) {
                    fileSystem.removeIfPresent("\(directory)/\(file)")
                }
            }
        }
    }

    private func isStray(_ file: String, in directory: String) -> Bool {
        guard directory != "kept" else { return false }
        guard let row = UInt64(file).flatMap({ rows[$0] }) else { return true }
        switch directory {
        case "parts": return row.state.isTerminal || row.kind == .upload || row.detail == nil
        case "uploads": return row.state.isTerminal
        default: return row.state != .finished
        }
    }
}

extension TransferEvent.Outcome {
    var state: TransferStatus.State {
        switch self {
        case .finished: .finished
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }
}
