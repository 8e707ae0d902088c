/// A level of memory shortage.
public enum MemoryPressure: Int, Sendable, Comparable, CaseIterable {
    /// Enough memory is available.
    case normal
    /// Half of all purgeable memory should be released.
    case warning
    /// Three quarters of all purgeable memory should be released.
    case urgent
    /// All purgeable memory should be released.
    case critical

    /// Returns `true` if the first level is less critical than the second.
    public static func < (left: MemoryPressure, right: MemoryPressure) -> Bool { left.rawValue < right.rawValue }

    /// The fraction of a cache that may be kept at this level: 1, 0.5, 0.25 or 0.
    package var retainedFraction: Double {
        switch self {
        case .normal: 1
        case .warning: 0.5
        case .urgent: 0.25
        case .critical: 0
        }
    }
}
