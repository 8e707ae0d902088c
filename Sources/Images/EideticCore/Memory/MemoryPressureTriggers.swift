package import Glibc

/// Descriptors that the kernel makes ready when memory is short: pressure stall information, and control group events.
///
/// Used by one thread only.
///
/// - SeeAlso: https://docs.kernel.org/accounting/psi.html
package final class MemoryPressureTriggers {
    private struct Trigger {
        let descriptor: Int32
        let level: MemoryPressure
    }

    private var triggers: [Trigger]
    private var stallsIgnoredUntil: Duration = .zero
    private var eventsIgnoredUntil: Duration = .zero

    /// The stall time within 2 s: 5 % and 15 % for some tasks, 10 % for all.
    private static let thresholds: [(rule: String, level: MemoryPressure)] = [
        ("some 100000 2000000", .warning), ("some 300000 2000000", .urgent), ("full 200000 2000000", .critical),
    ]

    /// The file of the stalls of the whole machine.
    package static let machineStallFile = "/proc/pressure/memory"

    /// Opens the triggers for the events of groups, and for stalls; those that cannot be opened are omitted.
    package init(eventFiles: [String], stallFiles: [String]) {
        let stalls = stallFiles.flatMap { path in
            Self.thresholds.compactMap { item in
                Self.openTrigger(item.rule, path: path).map { Trigger(descriptor: $0, level: item.level) }
            }
        }
        // A group's event is only a reason to read the memory again.
        let events = eventFiles.compactMap { path -> Trigger? in
            let number = open(path, O_RDONLY | O_CLOEXEC)
            return number < 0 ? nil : Trigger(descriptor: number, level: .normal)
        }
        triggers = stalls + events
        for trigger in events { _ = Self.drain(trigger.descriptor) }
    }

    deinit { Self.close(triggers) }

    /// Closes the descriptors of triggers; those of stalls on another thread, as the kernel waits some 20 ms for each.
    private static func close(_ triggers: [Trigger]) {
        let stalls = triggers.filter { $0.level > .normal }.map(\.descriptor)
        for trigger in triggers where trigger.level == .normal { Glibc.close(trigger.descriptor) }
        let end: @Sendable () -> Void = { for number in stalls { Glibc.close(number) } }
        if !stalls.isEmpty, !Thread.startIfPossible(name: "close", body: end) { end() }
    }

    private static func openTrigger(_ rule: String, path: String) -> Int32? {
        let number = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return nil }
        // The terminating zero belongs to the rule.
        let count = rule.utf8.count + 1
        if rule.withCString({ write(number, $0, count) }) == count { return number }
        Glibc.close(number)
        return nil
    }

    /// Reads a group's events, so that only later ones are new; returns `false` if the group is gone, and its file
    /// always ready.
    private static func drain(_ number: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 512)
        return pread(number, &bytes, bytes.count, 0) >= 0
    }

    package var count: Int { triggers.count }

    /// Closes the descriptors, before the process ends.
    ///
    /// The kernel waits some 20 ms for each trigger of stalls, and would close them one after the other: each but the
    /// last has a thread of its own. Those without a thread, in a process at its limit, are left to the kernel.
    func closeAtOnce() {
        let stalls = triggers.filter { $0.level > .normal }.map(\.descriptor)
        for number in stalls.dropLast() { _ = Thread.startIfPossible(name: "close") { Glibc.close(number) } }
        for trigger in triggers where trigger.level == .normal || trigger.descriptor == stalls.last {
            Glibc.close(trigger.descriptor)
        }
        triggers = []
    }

    /// The descriptors to poll; those that are ignored for now are negative.
    package func pollDescriptors(at now: Duration) -> [pollfd] {
        triggers.map { trigger in
            let isIgnored = (trigger.level > .normal ? stallsIgnoredUntil : eventsIgnoredUntil) > now
            return pollfd(fd: isIgnored ? -1 : trigger.descriptor, events: Int16(POLLPRI), revents: 0)
        }
    }

    /// Ignores stalls until a time: they are those of other processes.
    package func ignoreStalls(until moment: Duration) { stallsIgnoredUntil = moment }

    /// Ignores events of groups until a time: a group that is full of page cache has a hundred a second.
    package func ignoreEvents(until moment: Duration) { eventsIgnoredUntil = moment }

    /// Returns the highest pressure among the ready descriptors; `nil` if none is ready.
    package func highestPressure(in polled: [pollfd]) -> MemoryPressure? {
        var highest: MemoryPressure?
        var removed: [Trigger] = []
        for (trigger, descriptor) in zip(triggers, polled) where descriptor.revents != 0 {
            let isAlive =
                trigger.level == .normal ? Self.drain(trigger.descriptor) : descriptor.revents & Int16(POLLPRI) != 0
            if isAlive { highest = max(highest ?? .normal, trigger.level) } else { removed.append(trigger) }
        }
        Self.close(removed)
        triggers.removeAll { trigger in removed.contains { $0.descriptor == trigger.descriptor } }
        return highest
    }
}
