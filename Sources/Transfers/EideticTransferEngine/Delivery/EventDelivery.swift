import EideticCore
package import EideticTransfer

/// The delivery of events that are safe to those who observe their sessions, and the wakes of applications that do not.
///
/// It is used on the engine's thread.
package final class EventDelivery {
    /// A receiver of the events of a session.
    final class Observer {
        let handler: (TransferNotification) -> Void
        /// A function that returns `false` while the receiver cannot take more.
        let canReceive: () -> Bool
        fileprivate var lastEvent: UInt64 = 0
        /// The last event of a finished session that was announced to it.
        fileprivate var finishedEvent: UInt64 = 0

        init(handler: @escaping (TransferNotification) -> Void, canReceive: @escaping () -> Bool) {
            self.handler = handler
            self.canReceive = canReceive
        }
    }

    /// The pause after the first failed wake of a session; it doubles with each further one.
    private static let firstWakePause: Duration = .seconds(1)
    private static let longestWakePause: Duration = .seconds(600)

    private let store: TransferStore
    private let time: any TimeSource
    private var observers: [UInt32: [Observer]] = [:]
    /// The last event that is safe in the journal.
    var safeEvent: UInt64
    private var changedSessions: Set<UInt32> = []
    /// The sessions whose application could not be woken, and is to be woken later.
    private var failedWakes: Set<UInt32> = []
    /// A function that is called when a session has finished that nobody observes: the application is to be launched.
    package var onWake: (_ application: String, _ session: String) -> Void = { _, _ in }

    init(_ store: TransferStore, time: any TimeSource) {
        self.store = store
        self.time = time
        safeEvent = store.nextEvent - 1
    }

    /// The uptime of the next wake after one that failed.
    var deadline: Duration? { failedWakes.compactMap { store.sessions[$0]?.wakeNotBefore }.min() }

    /// A Boolean value indicating whether there are events that are not safe yet.
    var hasUnsafeEvents: Bool { safeEvent + 1 < store.nextEvent }

    // MARK: Observers

    /// Delivers the events of a session to a function until the engine ends.
    package func observe(
        _ session: String,
        of application: String,
        handler: @escaping (TransferNotification) -> Void
    ) {
        guard let session = store.application(named: application).sessions[session] else { return }
        add(Observer(handler: handler, canReceive: { true }), to: session)
    }

    /// Adds an observer, which gets the events that are not acknowledged at once.
    func add(_ observer: Observer, to session: TransferSession) {
        session.isForceQuit = false
        observers[session.number, default: []].append(observer)
        deliver(to: observer, of: session)
    }

    func remove(_ observer: Observer, from session: UInt32) {
        observers[session]?.removeAll { $0 === observer }
        guard observers[session]?.isEmpty ?? false else { return }
        observers[session] = nil
        // The application may have ended before it had handled its events.
        if let session = store.sessions[session] { wakeIfFinished(session) }
    }

    func removeObservers(of session: TransferSession) { observers[session.number] = nil }

    // MARK: Events

    /// Delivers the events of a session, as far as they are safe, when the next ones are.
    func sessionChanged(_ session: TransferSession) { changedSessions.insert(session.number) }

    /// Delivers the events that are safe by now.
    func deliver() {
        let sessions = changedSessions
        changedSessions = []
        for number in sessions {
            guard let session = store.sessions[number] else { continue }
            if session.events.last?.event ?? 0 > safeEvent { changedSessions.insert(number) }
            for observer in observers[number] ?? [] { deliver(to: observer, of: session) }
            wakeIfFinished(session)
        }
    }

    /// Delivers further events to an observer that can receive again.
    func deliver(to observer: Observer, of session: TransferSession) {
        if session.application.isHeld { return }
        let start = session.events.firstIndex { $0.event > observer.lastEvent } ?? session.events.endIndex
        for entry in session.events[start...] {
            guard entry.event <= safeEvent, observer.canReceive() else { return }
            guard let row = store.rows[entry.transfer] else { continue }
            observer.lastEvent = entry.event
            observer.handler(.event(store.event(of: row)))
        }
        guard session.openCount == 0, let last = session.events.last?.event, last == observer.lastEvent,
            observer.finishedEvent < last
        else { return }
        observer.finishedEvent = last
        observer.handler(.sessionFinished(lastEvent: last))
    }

    /// Reports the progress of a transfer to those who can receive it.
    func report(_ progress: TransferNotification, of session: TransferSession) {
        guard !session.application.isHeld else { return }
        for observer in observers[session.number] ?? [] where observer.canReceive() { observer.handler(progress) }
    }

    /// Holds the events of an application back, or delivers them.
    ///
    /// An application that is suspended does not read them. It is woken for them, and reads them when it knows why.
    func setHeld(_ isHeld: Bool, application name: String) {
        guard let application = store.applications[name], application.isHeld != isHeld else { return }
        application.isHeld = isHeld
        for session in application.sessions.values {
            wakeIfFinished(session)
            for observer in observers[session.number] ?? [] { deliver(to: observer, of: session) }
        }
    }

    /// Delivers the events of all applications.
    func releaseAll() { for name in store.applications.keys { setHeld(false, application: name) } }

    // MARK: Wakes

    /// Wakes the applications of sessions that had finished before this process was started.
    func announceFinishedSessions() { for session in store.sessions.values { wakeIfFinished(session) } }

    private func wakeIfFinished(_ session: TransferSession) {
        guard session.openCount == 0, let last = session.events.last?.event, last <= safeEvent,
            session.announcedEvent < last, !session.isForceQuit, session.wakeNotBefore <= time.uptime,
            observers[session.number] == nil || session.application.isHeld, session.configuration.sendsLaunchEvents
        else { return }
        session.announcedEvent = last
        onWake(session.application.name, session.configuration.identifier)
    }

    /// Announces the events of a session again after a pause, because the application was not woken for them, or ended
    /// before it had handled the wake.
    package func wakeFailed(_ identifier: String, of name: String) {
        guard let session = store.applications[name]?.sessions[identifier], session.announcedEvent > 0 else { return }
        session.announcedEvent = 0
        let pause = min(Self.longestWakePause, Self.firstWakePause * (1 << min(session.wakeFailures, 16)))
        session.wakeNotBefore = time.uptime + pause
        session.wakeFailures += 1
        failedWakes.insert(session.number)
    }

    /// Wakes the applications whose pauses have passed.
    func retryWakes() {
        for number in failedWakes {
            guard let session = store.sessions[number] else { failedWakes.remove(number); continue }
            guard session.wakeNotBefore <= time.uptime else { continue }
            failedWakes.remove(number)
            wakeIfFinished(session)
        }
    }

    /// Ends the pauses of an application that handles events.
    func resetWakePauses(of application: TransferApplication) {
        for session in application.sessions.values where session.wakeFailures > 0 {
            session.wakeFailures = 0
            session.wakeNotBefore = .zero
        }
    }
}
