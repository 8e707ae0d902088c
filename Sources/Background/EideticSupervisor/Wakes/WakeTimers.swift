import CSupervisor
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
        steady = try Self.open(isWallClock: 0)
        wall = try Self.open(isWallClock: 1)
        // What is due is looked up after each event.
        watches = [steady.rawValue, wall.rawValue].map { number in
            poller.watch(number) { [unowned self] in if eidetic_read_timer(number) != 0 { self.armed = (0, 0) } }
        }
    }

    private static func open(isWallClock: Int32) throws(SystemError) -> FileDescriptor {
        let number = eidetic_open_timer(isWallClock)
        guard number >= 0 else { throw SystemError(.open, errorNumber: errno, path: "timerfd") }
        return FileDescriptor(adopting: number)
    }

    /// Arms the timers for times of their clocks in seconds; 0 disarms one.
    func arm(steady steadyTime: Int64, wall wallTime: Int64) {
        if steadyTime != armed.steady { eidetic_set_timer(steady.rawValue, steadyTime, 0) }
        if wallTime != armed.wall { eidetic_set_timer(wall.rawValue, wallTime, 1) }
        armed = (steadyTime, wallTime)
    }
}
