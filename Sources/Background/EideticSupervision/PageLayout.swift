/// The layout of the page that an application shares with its supervisor: one file of 4 KiB, 64-bit words.
///
/// The supervisor writes all words but the count, which has a cache line of its own; both write the request beside it.
package enum PageLayout {
    package static let size = 4_096
    /// The first word, which identifies the layout.
    package static let magic: UInt64 = 0x3130_4741_5044_4945

    package enum Word: Int, Sendable, CaseIterable {
        case magic = 0
        /// The phase that governs new background tasks: a raw value of `TaskPhase`.
        case phase = 8
        /// The end of background time in nanoseconds of `CLOCK_MONOTONIC`; `UInt64.max` for none.
        case deadline = 16
        /// The number of the supervisor.
        case generation = 24
        /// The number of nanoseconds and of times for which the application was suspended.
        case suspendedTime = 32
        case suspensionCount = 40
        /// The number of the process, and its start time in clock ticks since the boot.
        case process = 48
        case startTime = 56
        /// The two halves of the token.
        case token = 64
        case tokenEnd = 72
        /// The number of open background tasks, which the application writes.
        case openTasks = 128
        /// 1 if the supervisor wants to know when no task is open; the application sets it to 0 when it reports that.
        case idleRequest = 136
    }
}
