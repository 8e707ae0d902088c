import CLinux
import EideticCore
import Glibc

/// The timers of schedules: one of the clock that runs while the machine sleeps, and one of the wall clock, which also
/// tells when that clock is set.
final class WakeTimers {
    private let steady: FileDescriptor
    private let wall: FileDescriptor
    private var watches: [Poller.Watch] = []
    private var armed: (steady: Int64, wall: Int64) = (0, 0)

    init(poller: Poller) throws(SystemError) {
        steady = try Self.open(CLOCK_BOOTTIME)
        wall = try Self.open(CLOCK_REALTIME)
        // What is due is looked up after each event.
        watches = [steady.rawValue, wall.rawValue].map { number in
            poller.watch(number) { [unowned self] in
                var count: UInt64 = 0
                // A timer fails if its clock was set.
                if read(number, &count, 8) > 0 || errno == ECANCELED { armed = (0, 0) }
            }
        }
    }

    private static func open(_ clock: clockid_t) throws(SystemError) -> FileDescriptor {
        let number = timerfd_create(clock, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        guard number >= 0 else { throw SystemError(.open, errorNumber: errno, path: "timerfd") }
        return FileDescriptor(adopting: number)
    }

    /// Arms the timers for times of their clocks in seconds; 0 disarms one.
    func arm(steady steadyTime: Int64, wall wallTime: Int64) {
        if steadyTime != armed.steady { Self.set(steady, to: steadyTime) }
        if wallTime != armed.wall { Self.set(wall, to: wallTime, flags: wallTime > 0 ? TFD_TIMER_CANCEL_ON_SET : 0) }
        armed = (steadyTime, wallTime)
    }

    private static func set(_ timer: borrowing FileDescriptor, to seconds: Int64, flags: Int = 0) {
        let time = timespec(tv_sec: Int(seconds), tv_nsec: seconds > 0 ? 1 : 0)
        var value = itimerspec(it_interval: timespec(), it_value: time)
        timerfd_settime(timer.rawValue, Int32(TFD_TIMER_ABSTIME | flags), &value, nil)
    }
}
