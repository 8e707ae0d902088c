import Glibc

/// The processor time of this process.
package enum ProcessorTime {
    /// The processor time that the calling thread has used since its start (`CLOCK_THREAD_CPUTIME_ID`).
    package static var ofThread: Duration { reading(of: CLOCK_THREAD_CPUTIME_ID) }

    /// The processor time that all threads of this process have used (`CLOCK_PROCESS_CPUTIME_ID`).
    package static var ofProcess: Duration { reading(of: CLOCK_PROCESS_CPUTIME_ID) }

    private static func reading(of clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
