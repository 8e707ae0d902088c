/// How urgent a piece of work is.
public enum LoadPriority: Int, Sendable, Comparable, CaseIterable {
    /// Prefetching, and what waits while the user scrolls.
    case low
    /// The default.
    case normal
    /// At the head of the queue.
    case high

    /// Orders priorities from the least to the most urgent.
    public static func < (left: LoadPriority, right: LoadPriority) -> Bool { left.rawValue < right.rawValue }
}
