/// The visibility of an application.
package enum ApplicationPhase: Sendable, Hashable {
    /// The application runs and may be visible.
    case foreground
    /// The application runs, is not visible, and may be suspended soon.
    case background
}
