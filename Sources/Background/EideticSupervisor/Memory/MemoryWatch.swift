import EideticCore
import Glibc

/// The memory of the supervised applications: that of the machine, and of the control groups that limit them.
///
/// It is read only while an application runs.
final class MemoryWatch {
    private let monitor: MemoryMonitor
    private var relief = MemoryRelief()
    /// The pressure at the last reading, by the amount of memory alone: a stall of a moment ago costs nobody its life.
    private(set) var level = MemoryPressure.normal
    private var isNeeded = false

    init(groupPath: String?) {
        // A group of applications that is not below this process's own has limits of its own.
        let own = MemoryMonitor.currentGroups()
        let other = groupPath.map { [MemoryControlGroup.unified(at: $0)] } ?? []
        monitor = MemoryMonitor(groups: own + other) {}
    }

    /// The time of the next call of ``read(at:)``; `nil` while no application runs.
    func nextDeadline(at now: Duration) -> Duration? {
        guard isNeeded else { return nil }
        return [monitor.nextReadingTime, relief.choiceTime(at: level, now: now)].compactMap(\.self).min()
    }

    /// The descriptors of the kernel's notifications, for ``recordEvents(from:)``.
    func pollDescriptors(at now: Duration) -> [pollfd] { isNeeded ? monitor.pollDescriptors(at: now) : [] }

    func recordEvents(from polled: [pollfd]) { if !polled.isEmpty { monitor.recordEvents(from: polled) } }

    /// Reads the memory if that is due; returns the pressure if running applications are to be warned.
    func read(at now: Duration, isNeeded: Bool) -> MemoryPressure? {
        self.isNeeded = isNeeded
        guard isNeeded else { return nil }
        // Nobody ends for a reading that is out of date.
        let isChoiceDue = relief.choiceTime(at: level, now: now).map { $0 <= now } ?? false
        let reading = monitor.read(at: now, isRequested: isChoiceDue)
        level = reading.amountLevel
        return reading.isCurrent && reading.level > .normal ? reading.level : nil
    }

    /// Returns whether an application may end now, which is then decided for a while.
    func takeChoice(at now: Duration) -> Bool {
        guard let time = relief.choiceTime(at: level, now: now), time <= now else { return false }
        relief.recordChoice(at: now)
        return true
    }
}
