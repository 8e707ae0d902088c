import EideticCore
import EideticLifecycle

/// Looks at an application in the background once a second: at its use of the processor, and at its open tasks, as a
/// message about them may be lost.
package struct ProcessorWatch: ApplicationComponent {
    private static let interval: Duration = .seconds(1)

    private let window: Duration
    private var use: ProcessorUse
    /// The measure against the use, for `eidetic app why`.
    package private(set) var report: String?
    package private(set) var deadline: Duration?

    /// Creates the component, with the share in percent of one processor that the application may use during a window.
    package init(share: Int, window: Duration) {
        self.window = window
        use = ProcessorUse(limit: share, window: window)
    }

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        guard change != .processChanged, let process = view.process else {
            use.reset()
            report = nil
            deadline = nil
            return []
        }
        if view.lifecycle.reachedState == .background, !view.isAdopting {
            guard change == .deadline else {
                deadline = deadline ?? view.now + Self.interval
                return []
            }
            deadline = view.now + Self.interval
            return look(at: process, in: view)
        }
        deadline = nil
        if !view.lifecycle.isInBackground { report = nil }
        guard process.isSuspended || !view.lifecycle.isInBackground else { return [] }
        use.reset()
        return process.isThrottled ? [.process(.restorePriority)] : []
    }

    /// Records that the processes are slowed down, and by which means.
    package mutating func record(slowing means: String, report: String) -> [ApplicationEffect] {
        let text = "\(report): slowed down (\(means))"
        self.report = text
        return [.log(text)]
    }

    private mutating func look(at process: ApplicationView.Process, in view: ApplicationView) -> [ApplicationEffect] {
        let decision = process.isSuspended ? nil : use.record(used: process.processorTime(), at: view.now)
        let effects = decision.map { obey($0, in: view) } ?? []
        return effects + (view.taskCountChange.map { [.handle($0)] } ?? [])
    }

    private mutating func obey(_ decision: ProcessorUse.Decision, in view: ApplicationView) -> [ApplicationEffect] {
        let time = "\(Int(window.inMilliseconds)) ms in the background"
        switch decision {
        case .slowDown(let percent): return [.slowDown(report: "used \(percent) % of a processor for \(time)")]
        // It is limited by its progress.
        case .callIn where view.lifecycle.stay.assertions.contains(.continued): return []
        case .callIn(let percent):
            let text = "used \(percent) % of a processor for \(time): called in early"
            report = text
            return [.log(text), .handle(.backgroundTimeRevoked)]
        case .restore: return [.process(.restorePriority)]
        }
    }
}
