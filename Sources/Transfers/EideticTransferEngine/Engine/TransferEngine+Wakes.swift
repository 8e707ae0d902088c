import EideticCore

// Wakes that failed: the application is woken again, after a pause.
extension TransferEngine {
    /// The pause after the first failed wake of a session; it doubles with each further one.
    private static let firstWakePause: Duration = .seconds(1)
    private static let longestWakePause: Duration = .seconds(600)

    /// Announces the events of a session again after a pause, because the application was not woken for them, or ended
    /// before it had handled the wake.
    package func wakeFailed(_ identifier: String, of name: String) {
        guard let session = store.applications[name]?.sessions[identifier], session.announcedEvent > 0 else { return }
        session.announcedEvent = 0
        session.wakeNotBefore = time.uptime + Self.wakePause(afterFailures: session.wakeFailures)
        session.wakeFailures += 1
        failedWakes.insert(session.number)
        deadlines.insert(0, at: session.wakeNotBefore)
    }

    private static func wakePause(afterFailures count: Int) -> Duration {
        min(longestWakePause, firstWakePause * (1 << min(count, 16)))
    }

    /// Wakes the applications whose pauses have passed.
    func retryWakes() {
        for number in failedWakes {
            guard let session = store.sessions[number] else { failedWakes.remove(number); continue }
            guard session.wakeNotBefore <= time.uptime else { continue }
            failedWakes.remove(number)
            wakeApplicationIfFinished(session)
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
