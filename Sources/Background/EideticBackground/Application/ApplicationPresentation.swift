/// The presentation of an application to the user, which a window, a terminal or a test sets.
public enum ApplicationPresentation: Sendable, Hashable {
    /// Visible, with the user's input.
    case active
    /// Visible, without the user's input, as below a dialogue of the system.
    case inactive
    /// Not visible.
    case background
}
