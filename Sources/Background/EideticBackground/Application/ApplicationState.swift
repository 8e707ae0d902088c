internal import EideticLifecycle

/// The state of an application, from the user's point of view.
public enum ApplicationState: Sendable, Hashable, CaseIterable {
    /// The application was not started, or has ended.
    case notRunning
    /// The application is visible but receives no input: during transitions, or while the screen is locked.
    case inactive
    /// The application is visible and receives input; a server is active while it accepts requests.
    case active
    /// The application is not visible, but runs.
    case background
    /// The application is not visible, and its code does not run, so it never observes this state.
    case suspended

    /// Creates a state from the reached state of the state machine, which is never `terminating`.
    init(_ place: LifecycleState) {
        switch place {
        case .notRunning: self = .notRunning
        case .launching, .inactive: self = .inactive
        case .active: self = .active
        case .launchingInBackground, .background, .suspending, .terminating: self = .background
        case .suspended: self = .suspended
        }
    }
}

/// The presentation of an application to the user, which a window, a terminal or a test sets.
public enum ApplicationPresentation: Sendable, Hashable {
    /// Visible, and receiving input.
    case active
    /// Visible, without receiving input, for example below a system dialogue.
    case inactive
    /// Not visible.
    case background
}
