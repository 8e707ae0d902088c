#if GTK
import CGTK
import Glibc

/// A measurement of the time for which Eidetic blocks the main thread.
///
/// If the system gave the processor to another thread meanwhile, this thread's processor time counts instead.
@MainActor
enum MainThreadWatch {
    private struct Times {
        var elapsed: Duration = .zero
        var processor: Duration = .zero

        static var now: Times { Times(elapsed: time(CLOCK_MONOTONIC), processor: time(CLOCK_THREAD_CPUTIME_ID)) }

        private static func time(_ clock: clockid_t) -> Duration {
            var time = timespec()
            clock_gettime(clock, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }

        static func - (left: Times, right: Times) -> Times {
            Times(elapsed: left.elapsed - right.elapsed, processor: left.processor - right.processor)
        }
    }

    private static var depth = 0
    private static var start = Times()
    private static var longest = Times()
    private static var switches = 0

    /// The number of times that the processor was taken from this thread.
    private static var involuntarySwitches: Int {
        var usage = rusage()
        let thisThread: __rusage_who_t = 1
        getrusage(thisThread, &usage)
        return usage.ru_nivcsw
    }

    /// Starts the measurement, which costs some system calls for each callback.
    static func begin() {
        eidetic_set_watch { begins in MainActor.assumeIsolated { MainThreadWatch.note(begins: begins != 0) } }
    }

    private static func note(begins: Bool) {
        // The measurement may have begun within a turn.
        guard begins || depth > 0 else { return }
        depth += begins ? 1 : -1
        if begins, depth == 1 {
            switches = involuntarySwitches
            start = .now
        } else if !begins, depth == 0 {
            var time = Times.now - start
            if involuntarySwitches != switches { time.elapsed = time.processor }
            longest.elapsed = max(longest.elapsed, time.elapsed)
            longest.processor = max(longest.processor, time.processor)
        }
    }

    /// Excludes `body` from the measurement around it.
    static func exclude<Result>(_ body: () throws -> Result) rethrows -> Result {
        let before = Times.now
        defer {
            let excluded = Times.now - before
            start.elapsed += excluded.elapsed
            start.processor += excluded.processor
        }
        return try body()
    }

    /// Returns the longest times since the last call, and resets them; the two differ if the thread waited for a lock.
    static func consumeLongest() -> (elapsed: Duration, processor: Duration) {
        defer { longest = Times() }
        return (longest.elapsed, longest.processor)
    }
}
#endif
