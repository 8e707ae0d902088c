import EideticCore
import Glibc

/// Watches how much memory this process may still take, from two sides: the watermark, and the time lost to waiting.
///
/// Used by one thread only.
final class MemoryWatch {
    struct Reading {
        var level = MemoryPressure.normal
        /// Whether it differs from the reading before.
        var isNew = false
        /// Whether there was anything new to read.
        var wasRead = false
    }

    private let files = FileSystem()
    private let groups: [MemoryGroup]
    private let triggers: PressureTriggers
    private var level = MemoryPressure.normal
    private var stall: (level: MemoryPressure, until: Duration)?
    private var signal: MemoryPressure?
    private var wasInBackground = false
    private var last: (available: Double, moment: Duration)?

    /// When to read next; `nil` while only the kernel's call leads to it.
    private(set) var nextReading: Duration? = .zero
    /// How long a stall is held against the machine: two of the kernel's windows and a little.
    private static let stallTime: Duration = .seconds(5)

    init() {
        let text = (try? files.contents(of: "/proc/self/cgroup", limit: 1 << 16)) ?? []
        groups = MemoryGroup.all(String(decoding: text, as: UTF8.self))
        triggers = PressureTriggers(eventFiles: groups.compactMap(\.eventsFile))
    }

    var polled: [pollfd] { triggers.polled }

    func noteSignals(_ polled: [pollfd]) { signal = triggers.signalled(polled) }

    /// Reads if it is time to, if the kernel called, or if the application has just left the foreground.
    func read(at now: Duration, isInBackground: Bool) -> Reading {
        let called = signal
        signal = nil
        if let called, called > .normal, called >= stall?.level ?? .normal { stall = (called, now + Self.stallTime) }
        let isDue = nextReading.map { $0 <= now } ?? false
        guard isDue || called != nil || isInBackground != wasInBackground else { return Reading(level: level) }
        wasInBackground = isInBackground
        return evaluate(available(), at: now, isInBackground: isInBackground)
    }

    private func evaluate(_ available: Double, at now: Duration, isInBackground: Bool) -> Reading {
        if let current = stall, current.until <= now { stall = nil }
        let found = max(MemoryLevels.level(available: available), stall?.level ?? .normal)
        defer { level = found }
        let loss = last.map { ($0.available - available) / max(0.001, (now - $0.moment) / .seconds(1)) } ?? 0
        last = (available, now)
        nextReading = MemoryLevels.interval(
            available: available,
            level: found,
            isInBackground: isInBackground,
            loss: loss
        ).map { now + $0 }
        return Reading(level: found, isNew: found != level, wasRead: true)
    }

    private func available() -> Double {
        let bytes = (try? files.contents(of: "/proc/meminfo", limit: 1 << 16)) ?? []
        let text = String(decoding: bytes, as: UTF8.self)
        let total = MemoryLevels.value("MemTotal", in: text) ?? 0
        let machine = MemoryLevels.available(MemoryLevels.value("MemAvailable", in: text) ?? total, of: total)
        return groups.compactMap { $0.available(files, machine: total) }.min().map { min($0, machine) } ?? machine
    }
}
