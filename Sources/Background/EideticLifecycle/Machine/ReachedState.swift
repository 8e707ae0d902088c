/// The state of an application that the acknowledged callbacks have led to.
enum ReachedState: Sendable, Hashable, Comparable {
    case notRunning, launching, inactive, active, background, suspending, suspended

    /// The state as others see it.
    var visible: LifecycleState {
        switch self {
        case .notRunning: .notRunning
        case .launching: .launching
        case .inactive: .inactive
        case .active: .active
        case .background: .background
        case .suspending: .suspending
        case .suspended: .suspended
        }
    }

    /// The state in which another supervisor would find the process; `nil` before its launch, or without one.
    var adoptable: AdoptedProcess.State? {
        switch self {
        case .notRunning, .launching: nil
        case .active: .active
        case .inactive: .inactive
        case .background, .suspending: .background
        case .suspended: .suspended
        }
    }
}

/// The state that the machine moves towards.
enum TargetState: Sendable, Hashable { case active, inactive, background, terminated }

/// A callback that the application has not acknowledged, and the end of its time.
struct PendingCallback: Sendable, Hashable {
    let callback: LifecycleCallback
    private let limit: Duration
    private(set) var deadline: Duration

    init(_ callback: LifecycleCallback, within limit: Duration, at now: Duration) {
        self.callback = callback
        self.limit = limit
        deadline = now + limit
    }

    /// Starts the time again.
    mutating func restart(at now: Duration) { deadline = now + limit }
}
