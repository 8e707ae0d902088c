/// A level of memory shortage.
public enum MemoryPressure: Sendable, Comparable, CaseIterable {
    /// Enough memory is available.
    case normal
    /// Half of all purgeable memory should be released.
    case warning
    /// Three quarters of all purgeable memory should be released.
    case urgent
    /// All purgeable memory should be released.
    case critical

    /// Creates the level of a message; `critical` for a number that is none.
    package init(number: Int) {
        self = Self.allCases.indices.contains(number) ? Self.allCases[number] : .critical
    }

    /// The number of the level in messages, from 0.
    package var number: Int {
        switch self {
        case .normal: 0
        case .warning: 1
        case .urgent: 2
        case .critical: 3
        }
    }

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
