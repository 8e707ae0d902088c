import EideticCore
import Glibc

/// Monitors the memory that is available to this process, by its amount and by the time lost waiting for it.
///
/// Used by one thread only.
final class MemoryMonitor {
    struct Reading {
        var level = MemoryPressure.normal
        /// A Boolean value indicating whether the level differs from that of the previous reading.
        var isChanged = false
        /// A Boolean value indicating whether memory was read now, not before.
        var isCurrent = false
    }

    private let files = FileSystem()
    private let groups: [MemoryControlGroup]
    private let triggers: MemoryPressureTriggers
    private var level = MemoryPressure.normal
    private var stall: (level: MemoryPressure, until: Duration)?
    private var pendingSignal: MemoryPressure?
    private var wasInBackground = false
    private var lastReading: (available: Double, moment: Duration)?

    /// The time of the next reading; `nil` if only the kernel's notifications lead to one.
    private(set) var nextReadingTime: Duration? = .zero
    /// The time for which a stall counts: two of the kernel's windows and a little more.
    private static let stallDuration: Duration = .seconds(5)

    init() {
        let text = (try? files.contents(of: "/proc/self/cgroup", limit: 1 << 16)) ?? []
        groups = MemoryControlGroup.all(in: String(decoding: text, as: UTF8.self))
        triggers = MemoryPressureTriggers(eventFiles: groups.compactMap(\.eventsFile))
    }

    var pollDescriptors: [pollfd] { triggers.pollDescriptors }

    func recordEvents(from polled: [pollfd]) { pendingSignal = triggers.highestPressure(in: polled) }

    /// Reads the memory if a reading is due, the kernel has notified, or the application has entered or left the
    /// background.
    func read(at now: Duration, isInBackground: Bool) -> Reading {
        let notified = pendingSignal
        pendingSignal = nil
        if let notified, notified > .normal, notified >= stall?.level ?? .normal {
            stall = (notified, now + Self.stallDuration)
        }
        let isDue = nextReadingTime.map { $0 <= now } ?? false
        guard isDue || notified != nil || isInBackground != wasInBackground else { return Reading(level: level) }
        wasInBackground = isInBackground
        return evaluate(availableFraction: availableFraction(), at: now, isInBackground: isInBackground)
    }

    private func evaluate(availableFraction available: Double, at now: Duration, isInBackground: Bool) -> Reading {
        if let current = stall, current.until <= now { stall = nil }
        let found = max(MemoryPressureRules.pressure(availableFraction: available), stall?.level ?? .normal)
        defer { level = found }
        let loss = lastReading.map { ($0.available - available) / max(0.001, (now - $0.moment) / .seconds(1)) } ?? 0
        lastReading = (available, now)
        nextReadingTime = MemoryPressureRules.pollInterval(
            availableFraction: available,
            pressure: found,
            isInBackground: isInBackground,
            lossPerSecond: loss
        ).map { now + $0 }
        return Reading(level: found, isChanged: found != level, isCurrent: true)
    }

    private func availableFraction() -> Double {
        let bytes = (try? files.contents(of: "/proc/meminfo", limit: 1 << 16)) ?? []
        let text = String(decoding: bytes, as: UTF8.self)
        let total = MemoryPressureRules.value(named: "MemTotal", in: text) ?? 0
        let machine = MemoryPressureRules.fraction(
            MemoryPressureRules.value(named: "MemAvailable", in: text) ?? total,
            of: total
        )
        return groups.compactMap { $0.availableFraction(files: files, machineMemory: total) }.min().map {
            min($0, machine)
        } ?? machine
    }
}
