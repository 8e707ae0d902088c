import EideticCore
import EideticLifecycle

// The end of an application because memory is short.
extension SupervisedApplication {
    /// Returns the time in which an application in the background ends by itself, with `applicationWillTerminate`.
    private static func endLimit(at level: MemoryPressure) -> Duration {
        level == .critical ? .milliseconds(500) : .seconds(1)
    }
    /// The time after that for which the kernel may take to end a process, before another one is chosen.
    private static let exitLimit: Duration = .seconds(2)

    /// The application, if the user does not see it and is not about to.
    var memoryCandidate: MemoryRelief.Candidate? {
        guard let process, process.killReport == nil, adoptedRecord == nil, !lifecycle.isHeadingForForeground else {
            return nil
        }
        switch lifecycle.state {
        case .background, .suspending, .suspended: break
        default: return nil
        }
        return MemoryRelief.Candidate(
            identifier: identifier,
            isSuspended: lifecycle.state == .suspended,
            residentMemory: process.residentMemory
        )
    }

    /// A Boolean value indicating whether its memory is about to be free.
    var isEndingForMemory: Bool {
        guard let process, let end = process.memoryEnd else { return false }
        return Clock.now < end + Self.exitLimit
    }

    /// Ends the application: at once without a callback if it is suspended, else after a short time.
    func endForMemory(at level: MemoryPressure, residentMemory: UInt64) {
        guard let process else { return }
        let size = "\(residentMemory >> 20) MiB"
        let isSuspended = lifecycle.state == .suspended
        log("memory pressure is \(level): ends \(isSuspended ? "while suspended" : "in the background"), \(size)")
        if isSuspended {
            process.memoryEnd = Clock.now
            return handle(.memoryExhausted)
        }
        process.exitReport = "ended in the background, as memory was short"
        process.memoryEnd = Clock.now + Self.endLimit(at: level)
        handle(.terminate(grace: .zero))
    }

    /// The end of the time for the application's own end; `nil` if it need not end, or is being killed.
    var memoryEndTime: Duration? {
        guard let process, process.killReport == nil else { return nil }
        return process.memoryEnd
    }

    /// Kills the process that has not ended in its time.
    func enforceMemoryEnd() {
        handle(.memoryExhausted)
        // The state machine may not know the process any more.
        if let process, process.killReport == nil { kill(for: .memory) }
    }
}
