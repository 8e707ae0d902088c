package import EideticCore
import EideticLifecycle

/// The end of an application because memory is short.
package struct MemoryEnd: ApplicationComponent {
    /// The time after the end for which the kernel may take to end a process, before another one is chosen.
    private static let exitLimit: Duration = .seconds(2)

    /// The end of the time in which it ends by itself; `nil` if it need not.
    private var end: Duration?
    package private(set) var deadline: Duration?

    package init() {}

    /// Returns the time in which an application in the background ends by itself, with `applicationWillTerminate`.
    private static func limit(at level: MemoryPressure) -> Duration {
        level == .critical ? .milliseconds(500) : .seconds(1)
    }

    /// Returns whether the memory of the application is about to be free.
    package func isUnderWay(at now: Duration) -> Bool { end.map { now < $0 + Self.exitLimit } ?? false }

    /// Returns whether the application may end, as the user does not see it and is not about to.
    package static func spares(_ view: ApplicationView) -> Bool {
        guard let process = view.process, !process.isBeingKilled, !view.isAdopting,
            !view.lifecycle.isHeadingForForeground
        else { return true }
        return ![.background, .suspending, .suspended].contains(view.lifecycle.state)
    }

    /// Ends the application: at once without a callback if it is suspended, else after a short time.
    package mutating func begin(
        at level: MemoryPressure,
        residentMemory: UInt64,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        let isSuspended = view.lifecycle.state == .suspended
        let limit: Duration = isSuspended ? .zero : Self.limit(at: level)
        end = view.now + limit
        deadline = end
        let place = isSuspended ? "while suspended" : "in the background"
        let report = "memory pressure is \(level): ends \(place), \(residentMemory >> 20) MiB"
        if isSuspended { return [.log(report), .handle(.memoryExhausted)] }
        return [
            .log(report), .process(.explainEnd("ended in the background, as memory was short")),
            .handle(.terminate(grace: .zero)),
        ]
    }

    /// Kills the process that has not ended in its time.
    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        switch change {
        case .settled: return []
        case .processChanged:
            end = nil
            deadline = nil
            return []
        case .deadline:
            deadline = nil
            guard let process = view.process, !process.isBeingKilled else { return [] }
            // The state machine may not know the process any more.
            return [.handle(.memoryExhausted), .kill(.memory)]
        }
    }
}
