import EideticCore
import EideticTransfer

/// The report of an engine about its transfers: their states, and the reasons for which they wait.
struct TransferReport {
    private let engine: TransferEngine

    init(of engine: TransferEngine) { self.engine = engine }

    private var store: TransferStore { engine.store }
    private var time: any TimeSource { engine.time }

    /// The number of bytes of statuses in one reply.
    private static let pageSize = 49_152

    func page(
        of application: TransferApplication,
        session: String?,
        after: TransferIdentifier
    ) throws(EideticError) -> TransferReply {
        let only = try session.map { name throws(EideticError) in try store.session(name, of: application) }
        let numbers = store.rows.values.filter { row in
            guard row.number > after.rawValue, let session = store.sessions[row.session] else { return false }
            return session.application === application && (only == nil || only === session)
        }.map(\.number).sorted()
        var statuses: [TransferStatus] = []
        var size: Int = 0
        for number in numbers {
            guard let row = store.rows[number] else { continue }
            let status = try status(of: row)
            size += WireWriter.encode(status).count
            if size > Self.pageSize, !statuses.isEmpty { return .transfers(statuses, isLast: false) }
            statuses.append(status)
        }
        return .transfers(statuses, isLast: true)
    }

    private func status(of row: TransferRow) throws(EideticError) -> TransferStatus {
        let request = try store.request(of: row).request
        var status = TransferStatus(
            identifier: TransferIdentifier(row.number),
            session: store.sessions[row.session]?.configuration.identifier ?? "",
            state: row.state,
            kind: row.kind,
            url: request.url,
            note: request.note
        )
        (status.completedBytes, status.totalBytes) = engine.running[row.number]?.progress ?? (row.completed, row.total)
        status.attemptCount = Int(row.attempts)
        status.lastError = String((engine.lastErrors[row.number]?.message ?? "").prefix(1_024))
        guard row.state == .waiting || row.state == .paused else { return status }
        if row.notBefore > time.uptime { status.nextAttempt = time.now + (row.notBefore - time.uptime) }
        if let begin = row.earliestBegin, begin > time.now { status.nextAttempt = begin }
        guard row.state == .waiting else { return status }
        status.reasons = reasons(for: row)
        return status
    }

    /// Returns the reason if the session has as many connections to the host as it allows.
    private func limitOfSession(_ row: TransferRow) -> WaitReason? {
        let limit = store.sessions[row.session]?.configuration.connectionsPerHost ?? .max
        guard limit < TransferLimits.connectionsPerHost,
            engine.queue.count(ofSession: row.session, host: row.host) >= limit
        else { return nil }
        let text = "all \(limit) connections of its session to \(store.hosts.names[Int(row.host)]) are in use"
        return WaitReason(.hostLimit, text: text)
    }

    /// Returns the reasons for which a transfer that waits does not run.
    private func reasons(for row: TransferRow) -> [WaitReason] {
        var reasons = engine.conditions.isHeld(row.number) ? engine.conditions.reasons : []
        if row.notBefore > time.uptime, let code = row.waitReason {
            let seconds = Int((row.notBefore - time.uptime).inSeconds.rounded(.up))
            let cause = engine.lastErrors[row.number].map { ": \($0.message.prefix(512))" } ?? ""
            reasons.append(WaitReason(code, text: "the next attempt is in \(seconds) s\(cause)"))
        }
        if let begin = row.earliestBegin, begin > time.now {
            let seconds = Int((begin - time.now).inSeconds.rounded(.up))
            reasons.append(WaitReason(.earliestBegin, text: "it begins in \(seconds) s at the earliest, as requested"))
        }
        guard reasons.isEmpty else { return reasons }
        if let reason = limitOfSession(row) { return [reason] }
        if row.waitReason == .queue {
            let text = "it gave its connection to another transfer, and continues when one is free"
            return [WaitReason(.queue, text: text)]
        }
        if engine.queue.isFull(host: row.host) {
            let limit = TransferLimits.connectionsPerHost
            return [
                WaitReason(
                    .hostLimit,
                    text: "all \(limit) connections to \(store.hosts.names[Int(row.host)]) are in use"
                )
            ]
        }
        if engine.queue.isFull {
            return [WaitReason(.connectionLimit, text: "all \(TransferLimits.connections) connections are in use")]
        }
        return [WaitReason(.queue, text: "transfers of other applications, or with a higher priority, are first")]
    }
}
