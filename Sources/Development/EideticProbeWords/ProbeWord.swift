/// The words that `EideticApplicationProbe` writes.
package enum ProbeWord {
    /// The times of callbacks, in nanoseconds of `CLOCK_MONOTONIC`.
    package static let didFinishLaunching = 0
    package static let willEnterForeground = 1
    /// The time just before the last task ended in the background.
    package static let taskEnd = 2
    /// The number of stored entries.
    package static let storeCount = 4
    /// The marks of the threads that are inside a task, a cache line each.
    package static func mark(ofThread number: Int) -> Int { 64 + 8 * number }
    package static let stormThreads = 4
    /// The samples of a pair of begin and end, in picoseconds: supervised, and without a supervisor.
    package static func pairs(_ sample: Int, isSupervised: Bool) -> Int { (isSupervised ? 128 : 192) + sample }
    package static let pairSamples = 25
    /// The version of an entry that was stored last.
    package static func version(ofEntry number: Int) -> Int { 256 + number }
    package static let entryCount = 256
    package static let count = 512
}
