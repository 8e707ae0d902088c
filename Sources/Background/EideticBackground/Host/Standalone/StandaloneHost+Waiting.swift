import EideticCore
import Glibc
import EideticLifecycle

extension StandaloneHost {
    /// Waits for an event or the next deadline, in steps that show when the process was stopped; without either, for
    /// ever.
    func wait() {
        var polled = [pollfd(fd: inbox.descriptor, events: Int16(POLLIN), revents: 0)]
        polled += application.noticeSources.pollDescriptors
        if let loginManager { polled.append(loginManager.pollDescriptor) }
        polled += notifications.pollDescriptors
        let first = polled.count
        let limit = longestWait
        if let memoryMonitor { polled += memoryMonitor.pollDescriptors(at: application.clock.uptime) }
        time.plan(limit ?? .seconds(1 << 32))
        _ = poll(&polled, nfds_t(polled.count), limit.map(Self.milliseconds) ?? -1)
        memoryMonitor?.recordEvents(from: Array(polled[first...]))
    }

    /// Rounded up, so that a deadline has passed after the wait.
    static func milliseconds(_ duration: Duration) -> Int32 {
        Int32(min((max(.zero, duration).inNanoseconds + 999_999) / 1_000_000, 86_400_000))
    }

    private var longestWait: Duration? {
        let now = now
        let uptime = application.clock.uptime
        let moments = [
            memoryMonitor?.nextReadingTime, loginManager?.deadline, notifications.nextDeadline,
            isBackgroundJob ? uptime + .seconds(1) : nil,
        ]
        let waits = moments.compactMap { $0.map { $0 - uptime } } + [stepToDeadline(from: now)].compactMap(\.self)
        return waits.min()
    }

    /// The time to the next look at the clock, while a limit runs.
    private func stepToDeadline(from now: Duration) -> Duration? {
        [lifecycle.nextDeadline, performer.nextDeadline].compactMap(\.self).min().map { deadline in
            RunningTime.longestWait(
                before: deadline - now,
                isStrict: lifecycle.unacknowledgedCallback != nil || lifecycle.stay.killDeadline != nil,
                isIdle: application.tasks.count == 0
            )
        }
    }

    /// Waits no longer for observers that have not handled a change in their time.
    func checkObservers() { if performer.checkObservers(at: now) { lifecycle.restartCallbackLimit(at: now) } }

    /// Does not count the time since the last reading of the clock.
    func skipStoppedTime() {
        let lost = time.lost
        time.skip(to: application.clock.uptime)
        application.tasks.postponeDeadline(by: time.lost - lost)
    }

    func checkMemory() {
        guard let memoryMonitor else { return }
        let change = memoryMonitor.read(at: application.clock.uptime, isRequested: inbox.takeMemoryReadingRequest())
        if change.isChanged, change.level == .normal { application.pressureBroadcast.post(.normal) }
        if change.level > .normal, change.isCurrent { handle(.memoryWarning(level: change.level.number)) }
    }
}
