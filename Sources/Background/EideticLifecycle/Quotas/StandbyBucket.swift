/// The class of an application by its last use, which limits its time in the background.
package enum StandbyBucket: UInt8, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// In use, or used in the last two hours.
    case active
    /// Used in the last 25 hours, and so probably every day.
    case workingSet
    /// Used in the last week.
    case frequent
    /// Used in the last 30 days.
    case rare
    /// Not used for longer.
    case restricted

    /// Creates the bucket of an application that was used that many seconds ago.
    package init(secondsSinceUse seconds: Int64) {
        switch seconds {
        case ...(2 * .hour): self = .active
        case ...(25 * .hour): self = .workingSet
        case ...(7 * .day): self = .frequent
        case ...(30 * .day): self = .rare
        default: self = .restricted
        }
    }

    /// The seconds that wakes may take in any window of ``window`` seconds.
    package var quota: Int64 {
        switch self {
        case .active: 1_200
        case .workingSet, .frequent, .rare: 600
        // One wake a day.
        case .restricted: 30
        }
    }

    /// The length of the window in seconds.
    package var window: Int64 {
        switch self {
        case .active: .hour
        case .workingSet: 4 * .hour
        case .frequent: 12 * .hour
        case .rare, .restricted: .day
        }
    }

    package var description: String {
        switch self {
        case .active: "active"
        case .workingSet: "working set"
        case .frequent: "frequent"
        case .rare: "rare"
        case .restricted: "restricted"
        }
    }
}
