import EideticCore
import EideticFetch
import EideticTransfer
import Glibc

/// The changes of transfers that an application, or the user, makes.
extension TransferEngine {
    func pause(_ number: UInt64) throws(EideticError) {
        guard store.rows[number]?.state != .paused else { return }
        try store.setPaused(true, of: number)
        conditions.release(number)
        guard let transfer = running[number] else { return }
        release(transfer)
        transfer.keepPart()
        updateKeptBytes(of: transfer)
    }

    func resume(_ number: UInt64) throws(EideticError) {
        guard let row = store.rows[number], row.state != .running else { return }
        if row.state == .paused { try store.setPaused(false, of: number) }
        store.rows[number]?.notBefore = .zero
        makeReady(number)
    }

    func cancel(_ number: UInt64, reason: TransferEvent.CancellationReason, keepsResumeData: Bool) {
        if let transfer = running[number] {
            release(transfer)
            if keepsResumeData { transfer.keepPart() }
        }
        let data = keepsResumeData ? keptParts.keep(number) : nil
        end(number, with: .cancelled(reason: reason, resumeData: data))
    }

    /// The parts of cancelled downloads.
    var keptParts: KeptParts { KeptParts(store: store, syncWorker: syncWorker) }

    func acknowledge(_ events: [UInt64], by application: TransferApplication) throws(EideticError) {
        removeAfterCommit(try store.acknowledge(events, by: application))
        delivery.resetWakePauses(of: application)
    }

    /// Cancels all transfers of an application that the user has quit by force, and does not launch it for their
    /// events.
    ///
    /// It is launched for events again after it has opened or observed the session.
    package func forceQuit(_ name: String) {
        let application = store.application(named: name)
        for session in application.sessions.values {
            session.isForceQuit = true
            for row in store.rows.values where row.session == session.number && !row.state.isTerminal {
                guard !finishing.contains(row.number) else { continue }
                cancel(row.number, reason: .userForceQuit, keepsResumeData: false)
            }
        }
    }
}
