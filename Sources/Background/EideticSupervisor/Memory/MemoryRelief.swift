package import EideticCore

/// The choice of the application that ends when memory is short, and its moment: rules without I/O.
package struct MemoryRelief: Sendable {
    /// An application that can be spared.
    package struct Candidate: Sendable, Hashable {
        package let identifier: String
        /// A Boolean value indicating whether it is suspended, or else runs in the background.
        package let isSuspended: Bool
        /// The resident memory of its processes, in bytes.
        package let residentMemory: UInt64
    }

    /// The time for which running applications can give memory back, before one ends at urgent pressure.
    package static let patience: Duration = .seconds(1)
    /// The time after the end of an application in which the memory is read again before another one ends.
    package static let pause: Duration = .milliseconds(100)

    private var urgentSince: Duration?
    private var nextChoice: Duration = .zero

    package init() {}

    /// Returns the one that ends first: suspended before those that run, then the largest.
    package static func first(of candidates: [Candidate]) -> Candidate? {
        candidates.min { one, other in
            if one.isSuspended != other.isSuspended { return one.isSuspended }
            if one.residentMemory != other.residentMemory { return one.residentMemory > other.residentMemory }
            return one.identifier < other.identifier
        }
    }

    /// Records the pressure, and returns the time of the next choice; `nil` if no application need end.
    package mutating func choiceTime(at level: MemoryPressure, now: Duration) -> Duration? {
        guard level >= .urgent else {
            urgentSince = nil
            return nil
        }
        let since = urgentSince ?? now
        urgentSince = since
        return level == .critical ? nextChoice : max(nextChoice, since + Self.patience)
    }

    /// Delays the next choice, as one was made, or as there was nobody to choose.
    package mutating func recordChoice(at now: Duration) { nextChoice = now + Self.pause }
}
