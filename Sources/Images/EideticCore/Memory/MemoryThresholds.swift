import CLinux
package import Glibc

/// The announcements of a control group of version 1: its usage passes a threshold, or reclaim has become hard.
///
/// An announcement is only a reason to read the memory. One that has come is not polled again before the next reading
/// would be due without it, so that usage around a threshold does not keep the process awake.
///
/// Used by one thread only.
package final class MemoryThresholds {
    private struct Announcement {
        let descriptor: Int32
        /// The usage that is announced; `nil` for reclaim.
        let usage: Int?
        var hasCome = false
        var ignoredUntil: Duration = .zero
    }

    private let group: MemoryControlGroup
    private var announcements: [Announcement] = []
    private var limit = 0

    /// Prepares the announcements of a group; there are none before a limit is known.
    package init(group: MemoryControlGroup) { self.group = group }

    deinit { closeAll() }

    /// Announces the levels of pressure below this limit; has no effect if the limit is the same as before.
    package func announce(below limit: Int) {
        guard limit != self.limit, let files = group.thresholds else { return }
        closeAll()
        self.limit = limit
        for fraction in MemoryPressureRules.thresholds {
            let usage = limit - Int(fraction * Double(limit))
            announce(usage, of: group.usageFile, argument: "\(usage)", by: files.control)
        }
        announce(nil, of: files.level, argument: "critical", by: files.control)
    }

    /// Makes the kernel announce by an event when the memory of the group passes a usage, or a level of pressure.
    private func announce(_ usage: Int?, of file: String, argument: String, by control: String) {
        let event = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        let files = FileSystem()
        guard event >= 0, let watched = try? files.open(file, flags: O_RDONLY),
            let writer = try? files.open(control, flags: O_WRONLY),
            (try? files.write(Array("\(event) \(watched.rawValue) \(argument)".utf8), to: writer)) != nil
        else {
            close(event)
            return
        }
        announcements.append(Announcement(descriptor: event, usage: usage))
    }

    private func closeAll() {
        for announcement in announcements { close(announcement.descriptor) }
        announcements = []
    }

    /// Returns `true` if an announcement will come before the pressure is a level higher.
    ///
    /// None comes for a group that is full of reclaimable caches: its usage stays the same while they are replaced.
    package func isAnnounced(_ share: MemoryShare, at now: Duration) -> Bool {
        announcements.contains { announcement in
            guard let usage = announcement.usage, announcement.ignoredUntil <= now else { return false }
            return usage > share.usage && usage <= share.usage + share.distance
        }
    }

    package var count: Int { announcements.count }

    /// The descriptors to poll; those that are ignored for now are negative.
    package func pollDescriptors(at now: Duration) -> [pollfd] {
        announcements.map { pollfd(fd: $0.ignoredUntil > now ? -1 : $0.descriptor, events: Int16(POLLIN), revents: 0) }
    }

    /// Returns `true` if an announcement has come.
    package func recordAnnouncements(in polled: ArraySlice<pollfd>) -> Bool {
        for (index, descriptor) in zip(announcements.indices, polled) where descriptor.revents != 0 {
            var count: UInt64 = 0
            _ = read(announcements[index].descriptor, &count, 8)
            announcements[index].hasCome = true
        }
        return announcements.contains(where: \.hasCome)
    }

    /// Ignores the announcements that have come until a time.
    package func ignoreAnnouncements(until moment: Duration) {
        for index in announcements.indices where announcements[index].hasCome {
            announcements[index].hasCome = false
            announcements[index].ignoredUntil = moment
        }
    }
}
