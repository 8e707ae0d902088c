/// The identifier of an open background task.
public struct BackgroundTaskIdentifier: Hashable, Sendable {
    /// The number; 0 is ``invalid``.
    package let rawValue: UInt64

    /// Creates an identifier.
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The identifier of no task: no background task could be opened.
    public static let invalid = BackgroundTaskIdentifier(rawValue: 0)
}
