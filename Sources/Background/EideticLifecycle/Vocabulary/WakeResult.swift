/// The result of a wake; each accepted wake has one.
package enum WakeResult: UInt8, Sendable, Hashable, CaseIterable {
    case newData, noData
    /// The application reported a failure, was late, or ended before it completed the wake.
    case failed
}
