import EideticCore
import EideticFetch
import EideticHTTP
import EideticTransfer
import Glibc

// MARK: Readiness
extension TransferEngine {
    /// The longest time between two looks at the time of day, for transfers that wait for it.
    private static let clockInterval: Duration = .seconds(600)

    /// Lets a transfer start as soon as its turn has come, unless it waits for a moment or for conditions.
    func makeReady(_ number: UInt64) {
        guard let row = store.rows[number], row.state == .waiting, let session = store.sessions[row.session] else {
            return
        }
        if row.notBefore > time.uptime { return deadlines.insert(number, at: row.notBefore) }
        if let wait = row.earliestBegin.map({ $0 - time.now }), wait > .zero {
            // The time of day may be set meanwhile.
            return deadlines.insert(number, at: time.uptime + min(wait, Self.clockInterval))
        }
        if session.configuration.isDiscretionary, !row.isOverdue {
            let start = row.deadline - session.configuration.resourceTimeout
            switch conditions.admit(number, addedAt: start, at: time.uptime) {
            case .runs: break
            case .isOverdue: store.rows[number]?.isOverdue = true
            case .waits(let end):
                if let end { deadlines.insert(number, at: end) }
                return
            }
        } else {
            conditions.release(number)
        }
        let remaining = row.total.map { max(0, $0 - row.completed) }
        let application = session.application.index
        queue.insert(
            number,
            on: TransferQueue.Connection(application: application, host: row.host, session: session.number),
            limit: session.configuration.connectionsPerHost,
            priority: row.priority,
            turns: row.turns,
            remaining: remaining
        )
    }

    package func setMetered(_ isMetered: Bool) {
        conditions.isMetered = isMetered
        for number in conditions.transfers { makeReady(number) }
    }

    func wakeDueTransfers() {
        while let number = deadlines.pop(at: time.uptime) {
            guard let row = store.rows[number], !row.state.isTerminal, !finishing.contains(number) else { continue }
            if row.deadline <= time.uptime {
                expire(row)
            } else if row.state == .waiting {
                makeReady(number)
            }
        }
    }

    private func expire(_ row: TransferRow) {
        let seconds = Int(store.sessions[row.session]?.configuration.resourceTimeout.inSeconds ?? 0)
        let cause = lastErrors[row.number].map { "; the last failure: \($0.message)" } ?? ""
        let message = "the transfer has not ended within \(seconds) seconds\(cause)"
        end(row.number, with: .failed(code: EideticError.Code.timedOut.description, message: message))
    }

    /// Attempts all transfers at once that wait because of a failure of the network.
    func networkReturned() {
        for (number, row) in store.rows where row.state == .waiting && row.notBefore > time.uptime {
            guard row.waitReason == .backoff || row.waitReason == .network else { continue }
            store.rows[number]?.notBefore = .zero
            makeReady(number)
        }
    }
}

// MARK: Attempts
extension TransferEngine {
    func startTransfers() {
        while !finishing.isFull, let next = queue.popNext(isReady: isReady) {
            start(next.number, on: next.connection)
        }
    }

    func isReady(_ number: UInt64) -> Bool {
        guard let row = store.rows[number] else { return false }
        return row.state == .waiting && row.notBefore <= time.uptime && !conditions.isHeld(number)
            && row.earliestBegin.map { $0 <= time.now } ?? true
    }

    private func start(_ number: UInt64, on connection: TransferQueue.Connection) {
        guard let row = store.rows[number], let session = store.sessions[row.session] else {
            return queue.release(connection)
        }
        store.rows[number]?.state = .running
        let transfer: RunningTransfer
        do throws(EideticError) {
            let added = try store.request(of: row)
            guard !added.hasSecret || !added.request.headers.isEmpty else {
                throw EideticError(.fileFailure, message: "\(added.request.url): the header fields were lost")
            }
            transfer =
                row.kind == .download
                ? try RunningDownload(engine: self, added: added, session: session, row: row)
                : try RunningUpload(engine: self, added: added, session: session, row: row)
            transfer.startTime = time.uptime
        } catch {
            queue.release(connection)
            return end(number, with: .failed(code: error.code.description, message: error.message))
        }
        running[number] = transfer
        do throws(EideticError) { try transfer.start() } catch { attemptFailed(transfer, with: error, retryAfter: nil) }
    }

    /// Ends the connection of a transfer, and lets the next one start.
    func release(_ transfer: RunningTransfer) {
        guard running.removeValue(forKey: transfer.number) != nil else { return }
        if let exchange = transfer.exchange { loop.cancel(exchange) }
        transfer.exchange = nil
        queue.release(transfer.connection)
    }

    /// Decides when a transfer is attempted again, or that it has failed.
    func attemptFailed(
        _ transfer: RunningTransfer,
        with error: EideticError,
        retryAfter: Duration?,
        retriesAnswer: Bool = false
    ) {
        guard running[transfer.number] === transfer else { return }
        // A server that is unavailable has not acted on the request.
        let status = retriesAnswer ? nil : transfer.unrepeatableStatus
        release(transfer)
        transfer.keepPart()
        updateKeptBytes(of: transfer)
        let number = transfer.number
        let attempts = transfer.hasProgress ? 0 : Int(store.rows[number]?.attempts ?? 0) + 1
        let isAttemptedLater = status == nil && FailureConsequences(of: error).isAttemptedLater
        guard isAttemptedLater, error.code != .badResponse || attempts < 8 else {
            let message = error.message + (status.map { "; the server has answered with status \($0)" } ?? "")
            return end(number, with: .failed(code: error.code.description, message: message))
        }
        let backoff = configuration.backoff.delay(afterAttempts: attempts)
        let delay = max(retryAfter ?? .zero, backoff)
        if lastErrors.count < 1_024 || lastErrors[number] != nil { lastErrors[number] = error }
        store.rows[number]?.attempts = UInt8(min(255, attempts))
        store.rows[number]?.notBefore = time.uptime + delay
        store.rows[number]?.waitReason = retryAfter != nil ? .retryAfter : error.waitReason
        store.rows[number]?.state = .waiting
        makeReady(number)
    }

    /// Updates the number of bytes that an ended attempt has left.
    func updateKeptBytes(of transfer: RunningTransfer) {
        let number = transfer.number
        guard transfer.added.request.kind == .download else { return }
        let hasPart = store.rows[number]?.detail != nil
        let size = hasPart ? try? fileSystem.status(of: transfer.application.partPath(number)).size : nil
        store.rows[number]?.completed = size ?? 0
        store.setDiskBytes(size ?? 0, of: number)
    }

    /// Ends connections without a byte for too long, and reports progress.
    func tick() {
        for transfer in Array(running.values) {
            guard let exchange = transfer.exchange else { continue }
            transfer.pace.measure(transfer.progress.completed, at: time.uptime)
            let silence = clock.now - exchange.lastActivity
            if silence >= transfer.configuration.requestTimeout {
                let seconds = Int(silence.inSeconds)
                let message = "\(transfer.target.text): no byte arrived within \(seconds) seconds"
                attemptFailed(transfer, with: EideticError(.timedOut, message: message), retryAfter: nil)
            } else {
                reportProgress(of: transfer)
            }
        }
    }

    private func reportProgress(of transfer: RunningTransfer) {
        let (completed, total) = transfer.progress
        guard transfer.pace.report(completed, at: clock.now) else { return }
        store.rows[transfer.number]?.completed = completed
        if let total { store.rows[transfer.number]?.total = total }
        let identifier = TransferIdentifier(transfer.number)
        delivery.report(.progress(identifier, completed: completed, total: total), of: transfer.session)
    }

    /// Lets transfers give way to applications that wait and have fewer connections than their share.
    ///
    /// They continue when it is their turn again.
    func shareConnections() {
        let now = time.uptime
        guard shares.isDue(at: now) else { return }
        for shortage in queue.shortages(isReady: isReady) {
            let next = ConnectionShares.transferToYield(for: shortage, of: shareCandidates, at: now) { application in
                queue.lead(of: application, in: shortage)
            }
            if let next { giveWay(next) }
        }
        for blockage in queue.blockages(isReady: isReady) {
            guard let next = ConnectionShares.slowTransfer(before: blockage, of: shareCandidates, at: now) else {
                continue
            }
            let turns = Int(store.rows[next]?.turns ?? 0) + 1
            store.rows[next]?.turns = UInt8(min(255, turns))
            giveWay(next)
        }
    }

    private var shareCandidates: [ConnectionShares.Candidate] {
        running.values.map { transfer in
            let row = store.rows[transfer.number]
            return ConnectionShares.Candidate(
                number: transfer.number,
                connection: transfer.connection,
                startTime: transfer.startTime,
                priority: row?.priority ?? 0,
                turns: row?.turns ?? 0,
                isSlow: transfer.pace.isSlow,
                canContinue: transfer.canContinue
            )
        }
    }

    private func giveWay(_ number: UInt64) {
        guard let transfer = running[number] else { return }
        release(transfer)
        transfer.keepPart()
        updateKeptBytes(of: transfer)
        store.rows[number]?.state = .waiting
        store.rows[number]?.waitReason = .queue
        makeReady(number)
    }
}

extension EideticError {
    /// The reason for which a transfer waits after this failure.
    var waitReason: WaitReason.Code {
        switch code {
        case .diskFull: .diskFull
        case .limitExceeded: .quota
        case .hostNotFound: .network
        case _ where [ENETUNREACH, EHOSTUNREACH, ENETDOWN].contains(systemErrorNumber): .network
        default: .backoff
        }
    }
}
