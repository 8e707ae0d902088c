internal import LifecycleCore

/// Where an application stands, as its user would say it.
public enum ApplicationState: String, Sendable, Hashable, CaseIterable {
    /// It has not been started, or has ended.
    case notRunning
    /// It is seen, but does not get the user's input: on the way up or down, or under a locked screen.
    case inactive
    /// It is seen and gets the user's input; a server is active as long as it serves.
    case active
    /// It is not seen, and still runs.
    case background
    /// It is not seen, and does not run. Nobody reads this in the application itself while it is so.
    case suspended

    /// `place` is never `terminating`: an application that ends is still seen or not.
    init(_ place: LifecycleState) {
        switch place {
        case .notRunning: self = .notRunning
        case .launching, .inactive: self = .inactive
        case .active: self = .active
        case .background, .suspending, .terminating: self = .background
        case .suspended: self = .suspended
        }
    }
}

/// What the user sees of the application; whoever knows that (a window, a terminal, a test) says it.
public enum ApplicationPresentation: Sendable, Hashable {
    /// Seen, with the user's input.
    case active
    /// Seen, without the user's input: a locked screen, a dialogue of the system.
    case inactive
    /// Not seen.
    case background
}
