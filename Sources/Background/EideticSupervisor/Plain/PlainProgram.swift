import EideticLifecycle

/// The treatment of a program that does not know the supervisor.
///
/// A program that the user has launched, that no desktop entry declares, and that has not connected within a while, is
/// taken for one until it connects: callbacks count as acknowledged, it is suspended and continued from outside, and
/// ended by SIGTERM.
package struct PlainProgram: ApplicationComponent {
    private let limit: Duration
    /// A Boolean value indicating whether the current process is taken for a program that does not know the supervisor.
    package private(set) var isRunning = false
    /// The time at which the process is taken for one.
    private var recognition: Duration?
    package private(set) var isEnding = false
    /// The time at which a process that was asked to end is killed.
    private var killTime: Duration?

    /// Creates the component, with the time in which a program connects.
    package init(limit: Duration) { self.limit = limit }

    package var deadline: Duration? { [recognition, killTime].compactMap(\.self).min() }

    /// Takes over a process that an earlier supervisor has treated so.
    package mutating func adopt() {
        isRunning = true
        recognition = nil
    }

    /// Records that the process has connected; returns whether it was taken for a plain program.
    package mutating func introduce() -> Bool {
        defer { reset() }
        return isRunning
    }

    /// Records that a suspended process is asked to end; returns `false` if it is to be killed.
    package mutating func beginEnd(at now: Duration, limit: Duration) -> Bool {
        guard isRunning, !isEnding else { return false }
        isEnding = true
        killTime = now + limit
        return true
    }

    private mutating func reset() {
        isRunning = false
        isEnding = false
        recognition = nil
        killTime = nil
    }

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        switch change {
        case .processChanged:
            reset()
            return []
        case .settled:
            if isRunning { return acknowledgement(in: view) }
            guard isSilent(view) else {
                recognition = nil
                return []
            }
            recognition = recognition ?? view.now + limit
            return []
        case .deadline:
            if let time = killTime, time <= view.now {
                killTime = nil
                return [.kill(.terminatedWhileSuspended)]
            }
            guard recognition.map({ $0 <= view.now }) ?? false else { return [] }
            recognition = nil
            guard isSilent(view), let process = view.process else { return [] }
            isRunning = true
            let report = "process \(process.number) does not connect: \(Self.explanation)"
            return [.log(report), .findWatchdog] + acknowledgement(in: view)
        }
    }

    /// The treatment in words.
    package static let explanation =
        "it is suspended and continued without callbacks, and ended by SIGTERM, as a program that does not know eideticd"

    /// Returns whether the program runs undeclared, was launched by the user for nothing else, and has not connected.
    private func isSilent(_ view: ApplicationView) -> Bool {
        guard !view.isDeclared, let process = view.process, process.slowStart == nil, !process.isWelcomed,
            !process.isBeingKilled,
            !view.isAdopting, view.lifecycle.waitingURLs.isEmpty, view.lifecycle.openWakes.isEmpty
        else { return false }
        switch view.lifecycle.unacknowledgedCallback {
        case .launch(.user), .launchInBackground(.user): return true
        default: return false
        }
    }

    /// Acknowledges a callback for the program; what it cannot do has failed.
    private func acknowledgement(in view: ApplicationView) -> [ApplicationEffect] {
        guard let callback = view.lifecycle.unacknowledgedCallback, let identity = view.process?.identity else {
            return []
        }
        switch callback {
        case .openURL(let url):
            return [.handle(.urlAnswered(url.id, isHandled: false, process: identity)), .acknowledge(callback)]
        case .wake(let reason):
            return [.acknowledge(callback), .handle(.wakeCompleted(reason.id, .failed, process: identity))]
        default: return [.acknowledge(callback)]
        }
    }
}
