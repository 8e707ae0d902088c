package import Glibc

/// Monitors the memory that is available to this process, by its amount and by the time lost waiting for it.
///
/// Used by one thread only.
package final class MemoryMonitor {
    package struct Reading {
        package var level = MemoryPressure.normal
        /// The level by the amount of memory alone, without the time lost waiting for it.
        package var amountLevel = MemoryPressure.normal
        /// A Boolean value indicating whether the level differs from that of the previous reading.
        package var isChanged = false
        /// A Boolean value indicating whether memory was read now, not before.
        package var isCurrent = false
    }

    private let files = FileSystem()
    private let groups: [(group: MemoryControlGroup, thresholds: MemoryThresholds?)]
    private let triggers: MemoryPressureTriggers
    private let meter: AllocationMeter
    private let request: @Sendable () -> Void
    private var level = MemoryPressure.normal
    private var amountLevel = MemoryPressure.normal
    private var stall: (level: MemoryPressure, until: Duration)?
    private var pendingSignal: MemoryPressure?
    /// The available bytes of each share at the last reading.
    private var lastReading: (available: [Int], moment: Duration)?

    /// The time of the next reading, unless the kernel or the meter causes an earlier one.
    package private(set) var nextReadingTime: Duration = .zero
    /// The time for which a stall counts: two of the kernel's windows and a little more.
    private static let stallDuration: Duration = .seconds(5)

    /// Opens the notifications of the kernel that are available here.
    ///
    /// - Parameters:
    ///   - groups: The groups that may limit this process; those of `/proc/self/cgroup` by default.
    ///   - usesThresholds: `false` for groups that announce no thresholds.
    ///   - watchesMachine: `false` if another monitor of this process has the stalls of the machine.
    ///   - meter: The meter of Eidetic's own allocations.
    ///   - request: Called on any thread when a noticeable part of the available memory was allocated: a call of `read`
    ///     must follow.
    package init(
        groups: [MemoryControlGroup] = currentGroups(),
        usesThresholds: Bool = true,
        watchesMachine: Bool = true,
        meter: AllocationMeter = .shared,
        request: @escaping @Sendable () -> Void
    ) {
        self.groups = groups.map { ($0, usesThresholds ? MemoryThresholds(group: $0) : nil) }
        triggers = MemoryPressureTriggers(
            eventFiles: groups.compactMap(\.eventsFile),
            stallFiles: (watchesMachine ? [MemoryPressureTriggers.machineStallFile] : [])
                + groups.compactMap(\.stallFile)
        )
        self.meter = meter
        self.request = request
    }

    /// Ends the notifications of the kernel, without waiting, before the process ends.
    package func stop() { triggers.closeAtOnce() }

    /// Returns the groups above this process.
    package static func currentGroups() -> [MemoryControlGroup] {
        let text = (try? FileSystem().contents(of: "/proc/self/cgroup", limit: 1 << 16)) ?? []
        return MemoryControlGroup.all(in: String(decoding: text, as: UTF8.self))
    }

    package func pollDescriptors(at now: Duration) -> [pollfd] {
        triggers.pollDescriptors(at: now) + groups.flatMap { $0.thresholds?.pollDescriptors(at: now) ?? [] }
    }

    /// Records what has become ready among the descriptors of `pollDescriptors(at:)`.
    package func recordEvents(from polled: [pollfd]) {
        var remainder = polled[...]
        let stalls = remainder.prefix(triggers.count)
        remainder = remainder.dropFirst(stalls.count)
        pendingSignal = triggers.highestPressure(in: Array(stalls))
        for (_, thresholds) in groups {
            guard let thresholds else { continue }
            let own = remainder.prefix(thresholds.count)
            remainder = remainder.dropFirst(own.count)
            if thresholds.recordAnnouncements(in: own) { pendingSignal = pendingSignal ?? .normal }
        }
    }

    /// Reads the memory if a reading is due or requested, or the kernel has notified.
    package func read(at now: Duration, isRequested: Bool = false) -> Reading {
        let notified = pendingSignal
        pendingSignal = nil
        if let notified, notified > .normal, notified >= stall?.level ?? .normal {
            stall = (notified, now + Self.stallDuration)
        }
        guard nextReadingTime <= now || notified != nil || isRequested else {
            return Reading(level: level, amountLevel: amountLevel)
        }
        if let current = stall, current.until <= now { stall = nil }
        let shares = readShares(at: now)
        let lowest = shares.map(\.availableFraction).min() ?? 1
        if !MemoryPressureRules.isStallOwn(availableFraction: lowest) {
            if stall != nil { triggers.ignoreStalls(until: nextReadingTime) }
            stall = nil
        }
        amountLevel = shares.map(\.pressure).max() ?? .normal
        let found = max(amountLevel, stall?.level ?? .normal)
        if found > .normal { nextReadingTime = min(nextReadingTime, now + .seconds(1)) }
        // The next reading comes soon enough for the fastest growth; until then events tell nothing new.
        if notified != nil { triggers.ignoreEvents(until: nextReadingTime) }
        defer { level = found }
        return Reading(level: found, amountLevel: amountLevel, isChanged: found != level, isCurrent: true)
    }

    /// Reads and returns all known shares, and plans the next reading.
    private func readShares(at now: Duration) -> [MemoryShare] {
        let machine = machineShare()
        let shares = [machine] + groups.map { $0.group.share(files: files, machineMemory: machine.limit) }
        var interval = Duration.seconds(10)
        for (index, share) in shares.enumerated() {
            guard let share else { continue }
            let thresholds = index == 0 ? nil : groups[index - 1].thresholds
            let loss = loss(of: share, at: index, now: now)
            interval = min(interval, plan(share, loss: loss, thresholds: thresholds, now: now))
        }
        lastReading = (shares.map { $0?.available ?? 0 }, now)
        nextReadingTime = now + interval
        let known = shares.compactMap(\.self)
        // A quarter of what is left before the next level is noticeable.
        meter.notify(after: max(1 << 20, (known.map(\.distance).min() ?? .max) / 4), observer: request)
        return known
    }

    /// Returns the time until the next reading of a share, and announces its thresholds.
    private func plan(_ share: MemoryShare, loss: Double, thresholds: MemoryThresholds?, now: Duration) -> Duration {
        let alone = MemoryPressureRules.readingInterval(for: share, lossPerSecond: loss)
        thresholds?.announce(below: share.limit)
        thresholds?.ignoreAnnouncements(until: now + alone)
        guard thresholds?.isAnnounced(share, at: now) ?? false else { return alone }
        return MemoryPressureRules.readingInterval(for: share, isAnnounced: true)
    }

    /// Returns the bytes that were lost per second since the last reading.
    private func loss(of share: MemoryShare, at index: Int, now: Duration) -> Double {
        guard let lastReading, index < lastReading.available.count else { return 0 }
        let seconds = max(0.001, (now - lastReading.moment) / .seconds(1))
        return max(0, Double(lastReading.available[index] - share.available) / seconds)
    }

    private func machineShare() -> MemoryShare {
        let bytes = (try? files.contents(of: "/proc/meminfo", limit: 1 << 16)) ?? []
        let text = String(decoding: bytes, as: UTF8.self)
        let total = MemoryPressureRules.value(named: "MemTotal", in: text) ?? 0
        let available = MemoryPressureRules.value(named: "MemAvailable", in: text) ?? total
        return MemoryShare(available: available, limit: total, usage: total - available)
    }
}
