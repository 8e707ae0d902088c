import EideticCore
import EideticTransfer
import Glibc

// MARK: Bodies
extension TransferEngine {
    /// Throws if the next bytes would exceed the application's share of the disk.
    func checkSpace(for count: Int, of transfer: RunningTransfer) throws(EideticError) {
        let application = transfer.application
        try space.check(for: count, of: application.name, using: application.diskBytes, at: time.uptime)
    }

    /// Counts received bytes, and synchronises the part file from time to time.
    func didReceive(_ count: Int, by transfer: RunningTransfer) {
        guard let sink = transfer.sink, let file = sink.file, transfer.added.request.kind == .download else { return }
        store.setDiskBytes(sink.length, of: transfer.number)
        let mark = store.rows[transfer.number]?.mark ?? 0
        guard transfer.part?.validator != nil,
            sink.length - max(mark, transfer.requestedMark) >= configuration.markInterval
        else { return }
        transfer.requestedMark = sink.length
        let number = transfer.number
        let offset = sink.length
        let files = fileSystem
        syncWorker.add(
            .work { [inbox] in
                guard (try? files.synchronizeData(file.descriptor)) != nil else { return }
                inbox.post { $0.didMark(offset, of: number, in: file) }
            }
        )
    }

    private func didMark(_ offset: Int, of number: UInt64, in file: BodySink.File) {
        guard running[number]?.sink?.file === file else { return }
        try? store.record(mark: offset, of: number)
    }

    /// Decodes a piece of each complete body with a content coding.
    func decodeBodies() {
        for transfer in Array(running.values) where transfer.decoding != nil { transfer.decodePiece() }
    }

    /// Ends a transfer whose body cannot be decoded; one without space is attempted again when there is some.
    func decodingFailed(_ transfer: RunningTransfer, with error: EideticError) {
        let number = transfer.number
        let isAlone = store.rows[number]?.diskBytes == transfer.application.diskBytes
        guard error.code == .badResponse || error.code == .limitExceeded && isAlone else {
            return attemptFailed(transfer, with: error, retryAfter: nil)
        }
        end(number, with: .failed(code: error.code.description, message: error.message))
    }

    /// Makes a complete body safe, and ends its transfer.
    func complete(_ transfer: RunningTransfer, part: PartDescription, sink: BodySink) {
        let number = transfer.number
        let outbox = transfer.application.outboxPath(number)
        let response = TransferEvent.Response(
            path: outbox,
            length: sink.length,
            status: part.status,
            effectiveURL: part.effectiveURL,
            headers: part.headers
        )
        release(transfer)
        finishing.add(number, body: sink, response: response)
    }

    /// Records that a body is safe, or could not be handed over for now.
    func didHandOver(
        _ number: UInt64,
        with response: TransferEvent.Response,
        body: [UInt8]? = nil,
        after error: SystemError?
    ) {
        finishing.remove(number)
        // Its session may have been removed meanwhile, and its files with it.
        if store.rows[number] == nil { return fileSystem.removeIfPresent(response.path) }
        guard let error = error.map({ EideticError($0) }) else {
            return end(number, with: .finished(response), body: body, diskBytes: response.length)
        }
        lastErrors[number] = error
        // Its time may have been over meanwhile.
        if let row = store.rows[number] { deadlines.insert(number, at: row.deadline) }
        store.rows[number]?.state = .waiting
        store.rows[number]?.waitReason = error.waitReason
        store.rows[number]?.notBefore = time.uptime + configuration.backoff.delay(afterAttempts: 5)
        makeReady(number)
    }
}

// MARK: Ends
extension TransferEngine {
    /// Records the end of a transfer; its event is delivered when the journal is safe.
    func end(_ number: UInt64, with outcome: TransferEvent.Outcome, body: [UInt8]? = nil, diskBytes: Int = 0) {
        if let transfer = running[number] { release(transfer) }
        guard let row = store.rows[number], let session = store.sessions[row.session] else { return }
        conditions.release(number)
        lastErrors[number] = nil
        do throws(SystemError) {
            try store.end(number, with: outcome, body: body, diskBytes: diskBytes)
        } catch {
            Log.write(.error, category: .fetch, message: "the end of a transfer cannot be recorded: \(error)")
            let end = FinishingTransfers.End(number: number, outcome: outcome, body: body, diskBytes: diskBytes)
            return finishing.keep(end, at: SystemTime().uptime)
        }
        delivery.sessionChanged(session)
        let application = session.application
        let uploads = row.kind == .upload ? [application.uploadPath(number)] : []
        // Until the end is safe, a part shows that the file is not the one that it describes. A small body has none.
        let hasPart = row.kind == .upload || row.detail != nil || outcome.state != .finished
        removeAfterCommit(uploads + (hasPart ? [application.partPath(number)] : []))
    }

    /// Attempts again to record ends.
    func retryEnds() {
        for ended in finishing.takeUnrecorded(at: SystemTime().uptime) {
            end(ended.number, with: ended.outcome, body: ended.body, diskBytes: ended.diskBytes)
        }
    }
}
