package import EideticCore
import EideticStore

/// A test with eight threads on one cache, beside other processes on the same directory: every result of random
/// operations is checked.
///
/// Each thread has keys of its own, whose entries it can predict. For keys of other threads it can check that the bytes
/// belong to some version.
package final class StressTest: Sendable {
    private let settings: StressTestSettings
    private let cache: DiskCache
    private let failures = Guarded<[String]>([])
    private let running: Monitor<Int>

    package init(_ settings: StressTestSettings) throws(EideticError) {
        self.settings = settings
        cache = try settings.openCache()
        running = Monitor(StressTestSettings.threadCount)
    }

    /// Runs the test, and returns all failures.
    package func run() -> [String] {
        let end = SystemTime().uptime + .seconds(settings.seconds)
        for thread in 0..<StressTestSettings.threadCount {
            Thread.start(name: "stress") { [self] in
                var work = StressTestThread(number: thread, settings: settings, cache: cache)
                var steps = 0
                while steps < settings.stepCount || SystemTime().uptime < end {
                    steps += 1
                    if let failure = work.step() { failures.withLock { $0.append(failure) } }
                }
                running.withLock { $0 -= 1 }
                running.broadcast()
            }
        }
        running.wait { $0 == 0 ? () : nil }
        return failures.withLock { $0 }
    }
}
