import EideticCore
import Glibc
import LifecycleCore

extension LifecycleHost {
    /// Waits for an event or the next deadline; without either, for ever.
    func wait() {
        var polled = [pollfd(fd: inbox.descriptor, events: Int16(POLLIN), revents: 0)]
        polled += application.noticeSources.pollDescriptors
        if let loginManager { polled.append(loginManager.pollDescriptor) }
        let first = polled.count
        if let memoryMonitor { polled += memoryMonitor.pollDescriptors }
        _ = poll(&polled, nfds_t(polled.count), timeout)
        memoryMonitor?.recordEvents(from: Array(polled[first...]))
    }

    /// The milliseconds until the next deadline, rounded up so that it has passed after the wait; -1 for none.
    private var timeout: Int32 {
        let now = application.clock.uptime
        let moments = [
            lifecycle.nextDeadline, memoryMonitor?.nextReadingTime, loginManager?.deadline,
            isBackgroundJob ? now + .seconds(1) : nil,
        ]
        guard let next = moments.compactMap(\.self).min() else { return -1 }
        let milliseconds = (max(.zero, next - now).inNanoseconds + 999_999) / 1_000_000
        return Int32(min(milliseconds, 86_400_000))
    }

    func checkMemory() {
        guard let memoryMonitor else { return }
        let change = memoryMonitor.read(at: application.clock.uptime, isInBackground: lifecycle.isInBackground)
        if change.isChanged, change.level == .normal { application.pressureBroadcast.post(.normal) }
        if change.level > .normal, change.isCurrent { handle(.memoryWarning(level: change.level.rawValue)) }
    }
}
