package import EideticCore
package import Glibc

/// Descriptors that the kernel makes ready when memory is short: pressure stall information, and events of the group.
///
/// - SeeAlso: https://docs.kernel.org/accounting/psi.html
///
/// Used by one thread only.
package final class MemoryPressureTriggers {
    private struct Trigger {
        let descriptor: Int32
        let level: MemoryPressure
    }

    private var triggers: [Trigger]

    /// Part of 2 s that some, or all, tasks may wait for memory: 5 %, 15 %, and 10 % of all.
    private static let thresholds: [(rule: String, level: MemoryPressure)] = [
        ("some 100000 2000000", .warning), ("some 300000 2000000", .urgent), ("full 200000 2000000", .critical),
    ]

    /// `stalls`: whether the machine's pressure is watched beside the events of groups.
    package init(eventFiles: [String], usesStallInformation: Bool = true) {
        let stalls = (usesStallInformation ? Self.thresholds : []).compactMap { item in
            Self.openTrigger(item.rule).map { Trigger(descriptor: $0, level: item.level) }
        }
        // News of the group says only: look again.
        let events = eventFiles.compactMap { path -> Trigger? in
            let number = open(path, O_RDONLY | O_CLOEXEC)
            return number < 0 ? nil : Trigger(descriptor: number, level: .normal)
        }
        triggers = stalls + events
        for trigger in events { _ = Self.drain(trigger.descriptor) }
    }

    deinit { for trigger in triggers { close(trigger.descriptor) } }

    private static func openTrigger(_ rule: String) -> Int32? {
        let number = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return nil }
        // The terminating zero belongs to the rule.
        let count = rule.utf8.count + 1
        if rule.withCString({ write(number, $0, count) }) == count { return number }
        close(number)
        return nil
    }

    /// A group's events are new until they have been read; `false` where the group is gone, and ready for ever.
    private static func drain(_ number: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 512)
        return pread(number, &bytes, bytes.count, 0) >= 0
    }

    package var pollDescriptors: [pollfd] {
        triggers.map { pollfd(fd: $0.descriptor, events: Int16(POLLPRI), revents: 0) }
    }

    /// The highest level that was called for; `nil` where nothing was.
    package func highestPressure(in polled: [pollfd]) -> MemoryPressure? {
        var highest: MemoryPressure?
        var dead: [Int32] = []
        for (trigger, answer) in zip(triggers, polled) where answer.revents != 0 {
            let lives = trigger.level == .normal ? Self.drain(trigger.descriptor) : answer.revents & Int16(POLLPRI) != 0
            if lives { highest = max(highest ?? .normal, trigger.level) } else { dead.append(trigger.descriptor) }
        }
        for number in dead { close(number) }
        triggers.removeAll { dead.contains($0.descriptor) }
        return highest
    }
}
