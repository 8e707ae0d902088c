import Glibc

/// The processor time of threads.
package enum ProcessorTime {
    /// The processor time that the calling thread has used since its start (`CLOCK_THREAD_CPUTIME_ID`).
    package static var ofThread: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
