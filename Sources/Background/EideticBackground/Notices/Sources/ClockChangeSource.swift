import CLinux
import Glibc

/// A source of notices that the clock was set.
struct ClockChangeSource: NoticeSource {
    private(set) var descriptor: Int32

    /// Opens the descriptor; `nil` if the kernel has none.
    init?() {
        descriptor = Self.open()
        if descriptor < 0 { return nil }
    }

    /// Returns a notice if the clock was set since the last call; `read` then fails with `ECANCELED`.
    mutating func read() -> [Notice] {
        var count: UInt64 = 0
        guard Glibc.read(descriptor, &count, 8) < 0, errno == ECANCELED else { return [] }
        // The descriptor reports one change only.
        close(descriptor)
        descriptor = Self.open()
        return [Notice(.clockChanged)]
    }

    private static func open() -> Int32 {
        let timer = timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        // The largest time that the kernel accepts, so that only a change of the clock ends the timer.
        var far = itimerspec(it_interval: timespec(), it_value: timespec(tv_sec: .max / 1_000_000_000, tv_nsec: 0))
        if timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET), &far, nil) == 0 { return timer }
        close(timer)
        return -1
    }
}
