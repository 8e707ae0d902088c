import EideticCore
import EideticHTTP
import EideticTransfer
import Glibc

extension TransferStore {
    /// Adds transfers; each upload has its file at `uploadPath` under a temporary name already.
    ///
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
            places = try change { () throws(SystemError) in
                var places: [JournalPlace] = []
                for transfer in added {
                    let secret = RequestSecret.encode(transfer.request.headers)
                    places.append(try journal.append(.added(transfer), secret: secret))
                }
                return places
            }
        } catch {
            let uploads = added.filter { $0.request.kind == .upload }
            for transfer in uploads { fileSystem.removeIfPresent(application.uploadPath(transfer.number)) }
            throw error
        }
        nextTransfer += UInt64(added.count)
        for (transfer, place) in zip(added, places) { insert(transfer, at: place, in: session) }
        return added.map(\.number)
    }

    private func insert(_ added: AddedTransfer, at place: JournalPlace, in session: TransferSession) {
        var row = row(of: added, at: place, in: session)
        row.diskBytes = added.uploadLength
        row.total = row.kind == .upload ? added.uploadLength : added.request.expectedLength
        insert(row, in: session)
    }

    func row(of added: AddedTransfer, at place: JournalPlace, in session: TransferSession) -> TransferRow {
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
        row.hasSecret = added.hasSecret
        return row
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

    /// Changes the bytes that the files of a transfer take.
    func setDiskBytes(_ count: Int, of number: UInt64) {
        guard let row = rows[number], let session = sessions[row.session] else { return }
        session.application.diskBytes += count - row.diskBytes
        rows[number]?.diskBytes = count
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
