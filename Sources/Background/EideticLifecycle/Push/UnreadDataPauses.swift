/// The pauses before an application is woken again for data that it has not read.
package struct UnreadDataPauses: Sendable {
    /// The longest pause, in which a program is expected to be repaired.
    package static let longest: Duration = .seconds(600)

    private let first: Duration
    private var last: (data: [UInt8], time: Duration, pause: Duration)?

    /// Creates the pauses: each one is twice as long as the one before.
    package init(first: Duration) { self.first = first }

    /// Records data that waits.
    ///
    /// - Returns: The end of the pause if the application was woken for the same data before; `nil` if it is woken.
    package mutating func admit(_ data: [UInt8], at now: Duration) -> Duration? {
        guard let last, last.data == data else {
            self.last = (data, now, first)
            return nil
        }
        let end = last.time + last.pause
        guard end <= now else { return end }
        self.last = (data, now, min(last.pause * 2, max(first, Self.longest)))
        return nil
    }

    /// Records the data that waits when no process runs that could read it: other data than before was not refused.
    package mutating func observe(_ data: [UInt8]) { if last?.data != data { last = nil } }

    /// A Boolean value indicating whether the application was woken for data that may still wait.
    package var isExpectingData: Bool { last != nil }
}
