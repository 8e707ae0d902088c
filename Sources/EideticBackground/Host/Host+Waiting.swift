import EideticCore
import Glibc
import LifecycleCore

extension Host {
    /// Sleeps until there is news, or something is due; for ever while nothing is.
    func wait() {
        var polled = [pollfd(fd: inbox.descriptor, events: Int16(POLLIN), revents: 0)]
        polled += application.sources.polled
        if let login { polled.append(login.polled) }
        let first = polled.count
        if let memory { polled += memory.polled }
        _ = poll(&polled, nfds_t(polled.count), timeout)
        memory?.noteSignals(Array(polled[first...]))
    }

    /// Milliseconds until the next deadline, rounded up, so that it has come when the wait ends; -1 for none.
    private var timeout: Int32 {
        let now = application.clock.uptime
        let moments = [
            lifecycle.nextDeadline, memory?.nextReading, login?.deadline, isUnseenJob ? now + .seconds(1) : nil,
        ]
        guard let next = moments.compactMap(\.self).min() else { return -1 }
        let milliseconds = (max(.zero, next - now).inNanoseconds + 999_999) / 1_000_000
        return Int32(min(milliseconds, 86_400_000))
    }

    func watchMemory() {
        guard let memory else { return }
        let change = memory.read(at: application.clock.uptime, isInBackground: lifecycle.isInBackground)
        if change.isNew, change.level == .normal { application.pressureStream.post(.normal) }
        if change.level > .normal, change.wasRead { handle(.memoryWarning(level: change.level.rawValue)) }
    }
}
