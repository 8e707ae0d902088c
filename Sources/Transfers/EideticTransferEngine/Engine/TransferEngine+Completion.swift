import EideticCore
import EideticFetch
import EideticTransfer
import Glibc

// MARK: Bodies
extension TransferEngine {
    /// Throws if the next bytes would exceed the application's share of the disk.
    func checkSpace(for count: Int, of transfer: RunningTransfer) throws(EideticError) {
        guard transfer.application.diskBytes + count <= (try diskLimit()) else {
            throw quotaError(of: transfer.application)
        }
        try checkFreeSpace(for: count)
    }

    func quotaError(of application: TransferApplication) -> EideticError {
        let limit = (try? diskLimit()) ?? 0
        let message = "the files of \(application.name) would exceed \(limit) bytes; acknowledge events"
        return EideticError(.limitExceeded, message: message)
    }

    /// Throws if fewer than the reserved bytes would be left on the file system, which is asked once a second.
    private func checkFreeSpace(for count: Int) throws(EideticError) {
        if freeSpace.map({ $0.bytes < count || time.uptime - $0.checked >= .seconds(1) }) ?? true {
            guard let space = try? fileSystem.freeSpace(at: configuration.directory) else { return }
            freeSpace = (space.availableBytes - configuration.reservedBytes, time.uptime)
        }
        guard let left = freeSpace?.bytes, left >= count else {
            let message = "fewer than \(configuration.reservedBytes) bytes would be left on the file system"
            throw EideticError(.diskFull, message: message)
        }
        freeSpace?.bytes = left - count
    }

    func diskLimit() throws(EideticError) -> Int {
        if let limit = configuration.diskLimit { return limit }
        if let cachedDiskLimit { return cachedDiskLimit }
        do throws(SystemError) {
            let space = try fileSystem.freeSpace(at: configuration.directory)
            cachedDiskLimit = space.totalBytes / 4
            return cachedDiskLimit ?? 0
        } catch {
            throw EideticError(error)
        }
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
        let (number, offset, files) = (transfer.number, sink.length, fileSystem)
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
        guard let file = sink.file else { return completeSmall(transfer, with: response, body: sink.buffer) }
        release(transfer)
        finishing.insert(number)
        let (source, files) = (sink.path, fileSystem)
        syncWorker.add(
            .work { [inbox] in
                let error = Self.handOver(file, from: source, to: outbox, with: files)
                inbox.post { $0.didHandOver(number, with: response, after: error) }
            }
        )
    }

    private static func handOver(
        _ file: BodySink.File,
        from source: String,
        to target: String,
        with files: FileSystem
    ) -> SystemError? {
        do throws(SystemError) {
            try files.synchronizeData(file.descriptor)
            try files.rename(source, to: target)
            try files.synchronizeDirectory(of: target)
            return nil
        } catch {
            return error
        }
    }

    private func didHandOver(
        _ number: UInt64,
        with response: TransferEvent.Response,
        body: [UInt8]? = nil,
        after error: SystemError?
    ) {
        finishing.remove(number)
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

    /// Writes a small body to its file; the journal has its bytes, so the file need not be synchronised.
    private func completeSmall(_ transfer: RunningTransfer, with response: TransferEvent.Response, body: [UInt8]) {
        let number = transfer.number
        release(transfer)
        finishing.insert(number)
        // The network does not wait for the file system, which takes longest for the creation of a file.
        fileWorker.add(
            .work { [inbox, fileSystem] in
                let error = Self.write(body, to: response.path, with: fileSystem)
                inbox.post { $0.didWrite(number, with: response, body: body, after: error) }
            }
        )
    }

    private static func write(_ body: [UInt8], to path: String, with files: FileSystem) -> SystemError? {
        do throws(SystemError) {
            let file = try files.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
            try files.write(body, to: file, at: 0)
            return nil
        } catch {
            return error
        }
    }

    private func didWrite(
        _ number: UInt64,
        with response: TransferEvent.Response,
        body: [UInt8],
        after error: SystemError?
    ) {
        // Its session may have been removed meanwhile, and its files with it.
        if store.rows[number] == nil { fileSystem.removeIfPresent(response.path) }
        didHandOver(number, with: response, body: body, after: error)
    }
}

// MARK: Ends
extension TransferEngine {
    /// Records the end of a transfer; its event is delivered when the journal is safe.
    func end(
        _ number: UInt64,
        with outcome: TransferEvent.Outcome,
        body: [UInt8]? = nil,
        diskBytes: Int = 0
    ) {
        if let transfer = running[number] { release(transfer) }
        guard let row = store.rows[number], let session = store.sessions[row.session] else { return }
        held.remove(number)
        lastErrors[number] = nil
        do throws(SystemError) {
            try store.end(number, with: outcome, body: body, diskBytes: diskBytes)
        } catch {
            return endLater(number, with: outcome, body: body, diskBytes: diskBytes, after: error)
        }
        changedSessions.insert(session.number)
        let application = session.application
        let uploads = row.kind == .upload ? [application.uploadPath(number)] : []
        // Until the end is safe, a part shows that the file is not the one that it describes.
        removeAfterCommit(uploads + [application.partPath(number)])
    }

    /// Tries again to record an end if the journal cannot be written.
    private func endLater(
        _ number: UInt64,
        with outcome: TransferEvent.Outcome,
        body: [UInt8]?,
        diskBytes: Int,
        after error: SystemError
    ) {
        Log.write(.error, category: .fetch, message: "the end of a transfer cannot be recorded: \(error)")
        finishing.insert(number)
        unrecordedEnds.append(UnrecordedEnd(number: number, outcome: outcome, body: body, diskBytes: diskBytes))
        endNotBefore = SystemTime().uptime + .seconds(1)
    }

    /// Attempts again to record ends.
    func retryEnds() {
        guard !unrecordedEnds.isEmpty, SystemTime().uptime >= endNotBefore else { return }
        let ends = unrecordedEnds
        unrecordedEnds = []
        for ended in ends {
            finishing.remove(ended.number)
            end(ended.number, with: ended.outcome, body: ended.body, diskBytes: ended.diskBytes)
        }
    }
}

/// The end of a transfer that could not be written to the journal.
struct UnrecordedEnd {
    let number: UInt64
    let outcome: TransferEvent.Outcome
    let body: [UInt8]?
    let diskBytes: Int
}
