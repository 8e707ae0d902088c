/// The urgency of a load.
public enum LoadPriority: Int, Sendable, Comparable, CaseIterable {
    /// Prefetches, and loads that may wait while the user scrolls.
    case low
    /// The default.
    case normal
    /// Loads at the head of the queue.
    case high

    /// Returns `true` if the first priority is less urgent than the second.
    public static func < (left: LoadPriority, right: LoadPriority) -> Bool { left.rawValue < right.rawValue }
}
