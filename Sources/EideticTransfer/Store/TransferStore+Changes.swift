import EideticCore
import EideticFetch
import EideticHTTP
import Glibc

// MARK: Sessions
extension TransferStore {
    /// Creates a session, or changes its settings.
    func openSession(
        _ configuration: TransferSessionConfiguration,
        of application: TransferApplication
    ) throws(EideticError) {
        try configuration.validate()
        let existing = application.sessions[configuration.identifier]
        let isKnown = application.identity.isEmpty || existing?.identity == application.identity
        if existing?.configuration == configuration, isKnown { return }
        guard existing != nil || application.sessions.count < TransferLimits.sessionCount else {
            let limit = TransferLimits.sessionCount
            throw EideticError(.limitExceeded, message: "the application has \(limit) sessions, the most allowed")
        }
        try makeDirectories(of: application)
        let number = existing?.number ?? nextSession
        let record = JournalRecord.session(
            number: number,
            application: application.name,
            identity: application.identity,
            configuration
        )
        let place = try change { () throws(SystemError) in try append(record) }
        release(existing?.place)
        if let existing {
            (existing.configuration, existing.place) = (configuration, place)
            existing.identity = application.identity
        } else {
            nextSession += 1
            let session = TransferSession(
                number: number,
                application: application,
                configuration: configuration,
                place: place
            )
            session.identity = application.identity
            sessions[number] = session
            application.sessions[configuration.identifier] = session
        }
    }

    /// Removes a session whose transfers do not run; returns the paths of its files, which the caller removes.
    func removeSession(_ session: TransferSession) throws(EideticError) -> [String] {
        try change { () throws(SystemError) in
            try journal.append(.counters(nextTransfer: nextTransfer, nextEvent: nextEvent))
            try journal.append(.sessionRemoved(number: session.number))
        }
        let application = session.application
        var paths: [String] = []
        for row in rows.values where row.session == session.number {
            paths += [application.partPath(row.number), application.uploadPath(row.number)]
            paths.append(application.outboxPath(row.number))
            remove(row, of: application)
        }
        release(session.place)
        sessions[session.number] = nil
        application.sessions[session.configuration.identifier] = nil
        return paths
    }

    private func makeDirectories(of application: TransferApplication) throws(EideticError) {
        guard application.sessions.isEmpty else { return }
        do throws(SystemError) {
            for name in TransferApplication.subdirectories {
                try fileSystem.makeDirectories("\(application.directory)/\(name)")
            }
            try fileSystem.synchronizeDirectory(of: application.directory)
        } catch {
            throw EideticError(error)
        }
    }

    /// Performs a change of the journal; records that cannot be written are removed again.
    func change<Result>(_ body: () throws(SystemError) -> Result) throws(EideticError) -> Result {
        let length = journal.length
        do throws(SystemError) {
            let result = try body()
            try journal.flush()
            return result
        } catch {
            journal.removeRecords(after: length)
            throw EideticError(error)
        }
    }
}

// MARK: Transfers
extension TransferStore {
    /// Adds transfers; each upload has its file at `uploadPath` under a temporary name already.
    ///
    /// - Parameters:
    ///   - requests: The requests, and for uploads the paths and lengths of their files.
    ///   - session: The session.
    /// - Returns: The numbers of the transfers.
    /// - Throws: `limitExceeded`, or an error of the file system; then no transfer is added.
    func add(
        _ requests: [(request: TransferRequest, upload: (path: String, length: Int)?)],
        to session: TransferSession
    ) throws(EideticError) -> [UInt64] {
        let application = session.application
        guard application.transferCount + requests.count <= TransferLimits.transferCount else {
            throw EideticError(
                .limitExceeded,
                message: "the application would have more than \(TransferLimits.transferCount) transfers"
            )
        }
        var added: [AddedTransfer] = []
        for (index, entry) in requests.enumerated() {
            let transfer = AddedTransfer(
                number: nextTransfer + UInt64(index),
                session: session.number,
                created: time.now,
                createdUptime: time.uptime,
                boot: bootNumber,
                request: entry.request,
                uploadLength: entry.upload?.length ?? 0,
                hasSecret: !entry.request.headers.isEmpty
            )
            added.append(transfer)
            guard let upload = entry.upload else { continue }
            do throws(SystemError) {
                try fileSystem.rename(upload.path, to: application.uploadPath(transfer.number))
            } catch {
                throw EideticError(error)
            }
        }
        let places: [JournalPlace]
        do throws(EideticError) {
            places = try append(added)
        } catch {
            let uploads = added.filter { $0.request.kind == .upload }
            for transfer in uploads { fileSystem.removeIfPresent(application.uploadPath(transfer.number)) }
            throw error
        }
        nextTransfer += UInt64(added.count)
        for (transfer, place) in zip(added, places) { insert(transfer, at: place, in: session) }
        return added.map(\.number)
    }

    private func append(_ added: [AddedTransfer]) throws(EideticError) -> [JournalPlace] {
        try change { () throws(SystemError) in
            var places: [JournalPlace] = []
            for transfer in added {
                let secret = RequestSecret.encode(transfer.request.headers)
                places.append(try journal.append(.added(transfer), secret: secret))
            }
            return places
        }
    }

    private func insert(_ added: AddedTransfer, at place: JournalPlace, in session: TransferSession) {
        var row = TransferRow(
            number: added.number,
            session: session.number,
            host: hosts.number(ofURL: added.request.url),
            kind: added.request.kind,
            priority: added.request.priority,
            added: place,
            deadline: deadline(of: added, in: session)
        )
        row.earliestBegin = added.request.earliestBegin
        row.diskBytes = added.uploadLength
        row.total = row.kind == .upload ? added.uploadLength : added.request.expectedLength
        insert(row, in: session)
    }

    /// Records the response to which the bytes of the part file belong, before the first of them is written.
    func record(_ part: PartDescription, of number: UInt64) throws(SystemError) {
        let place = try append(.response(transfer: number, part))
        try journal.flush()
        // After a loss of power an older record would describe the bytes that follow, if it has a mark.
        if rows[number]?.mark ?? 0 > 0 { try fileSystem.synchronizeData(journal.file.descriptor) }
        supersede(rows[number]?.detail, of: number)
        rows[number]?.detail = place
        rows[number]?.mark = 0
        rows[number]?.total = part.totalLength
    }

    /// Records that the bytes of a part file up to `offset` are safe.
    func record(mark offset: Int, of number: UInt64) throws(SystemError) {
        _ = try journal.append(.mark(transfer: number, offset: offset))
        rows[number]?.mark = offset
    }

    /// Records the URL at which an upload is continued; `nil` if it begins again.
    func record(
        uploadLocation url: String?,
        requiresPublicAddress: Bool,
        of number: UInt64
    ) throws(SystemError) {
        let place = try append(
            .uploadLocation(transfer: number, url: url ?? "", requiresPublicAddress: requiresPublicAddress)
        )
        try journal.flush()
        supersede(rows[number]?.detail, of: number)
        rows[number]?.detail = place
    }

    /// Records that a transfer is paused, or not any more.
    func setPaused(_ isPaused: Bool, of number: UInt64) throws(EideticError) {
        try change { () throws(SystemError) in
            _ = try journal.append(.paused(transfer: number, isPaused))
        }
        rows[number]?.state = isPaused ? .paused : .waiting
    }

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
        (row.event, row.ended, row.state) = (nextEvent, place, outcome.state)
        nextEvent += 1
        session.application.diskBytes += diskBytes - row.diskBytes
        row.diskBytes = diskBytes
        rows[number] = row
        session.openCount -= 1
        session.insert(event: row.event, transfer: number)
        eventTransfers[row.event] = number
        unerasedSecrets.insert(number)
    }

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

    private func remove(_ row: TransferRow, of application: TransferApplication) {
        for place in [row.added, row.detail, row.ended] { release(place) }
        let places = [row.added, row.detail, row.ended].compactMap(\.self)
        invalidate(places + (supersededPlaces.removeValue(forKey: row.number) ?? []))
        application.transferCount -= 1
        application.diskBytes -= row.diskBytes
        eventTransfers[row.event] = nil
        sessions[row.session]?.events.removeAll { $0.transfer == row.number }
        rows[row.number] = nil
    }

    /// Changes the bytes that the files of a transfer take.
    func setDiskBytes(_ count: Int, of number: UInt64) {
        guard let row = rows[number], let session = sessions[row.session] else { return }
        session.application.diskBytes += count - row.diskBytes
        rows[number]?.diskBytes = count
    }
}
