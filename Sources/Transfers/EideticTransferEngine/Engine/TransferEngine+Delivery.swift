import EideticCore
import EideticFetch
package import EideticTransfer

extension TransferEngine {
    /// A receiver of the events of a session.
    final class Observer {
        let handler: (TransferNotification) -> Void
        /// A function that returns `false` while the receiver cannot take more.
        let canReceive: () -> Bool
        /// The last event that was delivered to it.
        var lastEvent: UInt64 = 0
        /// The last event of a finished session that was announced to it.
        var finishedEvent: UInt64 = 0

        init(handler: @escaping (TransferNotification) -> Void, canReceive: @escaping () -> Bool) {
            self.handler = handler
            self.canReceive = canReceive
        }
    }

    /// Delivers the events of a session to a function until the engine ends.
    package func observe(
        _ session: String,
        of application: String,
        handler: @escaping (TransferNotification) -> Void
    ) {
        guard let session = store.application(named: application).sessions[session] else { return }
        addObserver(Observer(handler: handler, canReceive: { true }), of: session)
    }

    /// Adds an observer, which gets the events that are not acknowledged at once.
    func addObserver(_ observer: Observer, of session: TransferSession) {
        session.isForceQuit = false
        observers[session.number, default: []].append(observer)
        deliver(to: observer, of: session)
    }

    func removeObserver(_ observer: Observer, of session: UInt32) {
        observers[session]?.removeAll { $0 === observer }
        guard observers[session]?.isEmpty ?? false else { return }
        observers[session] = nil
        // The application may have ended before it had handled its events.
        if let session = store.sessions[session] { wakeApplicationIfFinished(session) }
    }

    /// Returns the event of a transfer that has ended; a failure if the journal cannot be read.
    private func event(of row: TransferRow) -> TransferEvent {
        do throws(EideticError) { return try store.event(of: row) } catch {
            Log.write(.error, category: .fetch, message: "the event of the transfer \(row.number): \(error)")
            let request = try? store.request(of: row).request
            let message = "what became of the transfer cannot be read from the journal: \(error.message)"
            return TransferEvent(
                number: row.event,
                transfer: TransferIdentifier(row.number),
                kind: row.kind,
                url: request?.url ?? "",
                note: request?.note ?? [],
                outcome: .failed(code: error.code.description, message: message)
            )
        }
    }

    /// Delivers the events that are safe by now.
    func deliver() {
        let sessions = changedSessions
        changedSessions = []
        for number in sessions {
            guard let session = store.sessions[number] else { continue }
            if session.events.last?.event ?? 0 > committedEvent { changedSessions.insert(number) }
            for observer in observers[number] ?? [] { deliver(to: observer, of: session) }
            wakeApplicationIfFinished(session)
        }
    }

    /// Delivers further events to an observer that can receive again.
    func deliver(to observer: Observer, of session: TransferSession) {
        if session.application.isHeld { return }
        let start = session.events.firstIndex { $0.event > observer.lastEvent } ?? session.events.endIndex
        for entry in session.events[start...] {
            guard entry.event <= committedEvent, observer.canReceive() else { return }
            guard let row = store.rows[entry.transfer] else { continue }
            let event = event(of: row)
            observer.lastEvent = entry.event
            observer.handler(.event(event))
        }
        guard session.openCount == 0, let last = session.events.last?.event, last == observer.lastEvent,
            observer.finishedEvent < last
        else { return }
        observer.finishedEvent = last
        observer.handler(.sessionFinished(lastEvent: last))
    }

    func wakeApplicationIfFinished(_ session: TransferSession) {
        guard session.openCount == 0, let last = session.events.last?.event, last <= committedEvent,
            session.announcedEvent < last, !session.isForceQuit, session.wakeNotBefore <= time.uptime,
            observers[session.number] == nil || session.application.isHeld, session.configuration.sendsLaunchEvents
        else { return }
        session.announcedEvent = last
        onWake(session.application.name, session.configuration.identifier)
    }

    /// Wakes the applications of sessions that had finished before this process was started.
    func announceFinishedSessions() { for session in store.sessions.values { wakeApplicationIfFinished(session) } }

    /// Holds the events of an application back, or delivers them.
    ///
    /// An application that is suspended does not read them. It is woken for them, and reads them when it knows why.
    func setHeld(_ isHeld: Bool, application name: String) {
        guard let application = store.applications[name], application.isHeld != isHeld else { return }
        application.isHeld = isHeld
        for session in application.sessions.values {
            wakeApplicationIfFinished(session)
            for observer in observers[session.number] ?? [] { deliver(to: observer, of: session) }
        }
    }

    /// Delivers the events of all applications.
    func releaseAll() { for name in store.applications.keys { setHeld(false, application: name) } }

    /// Reports the progress of a transfer, at most four times a second.
    func reportProgress(of transfer: RunningTransfer) {
        let progress = transfer.progress
        guard clock.now - transfer.lastReport.time >= .milliseconds(250),
            progress.completed != transfer.lastReport.count
        else { return }
        transfer.lastReport = (clock.now, progress.completed)
        store.rows[transfer.number]?.completed = progress.completed
        if let total = progress.total { store.rows[transfer.number]?.total = total }
        let notification = TransferNotification.progress(
            TransferIdentifier(transfer.number),
            completed: progress.completed,
            total: progress.total
        )
        guard !transfer.application.isHeld else { return }
        for observer in observers[transfer.session.number] ?? [] where observer.canReceive() {
            observer.handler(notification)
        }
    }
}
