import EideticCore
import Glibc

/// The memory of the control groups that limit one application, and not the supervisor.
final class ApplicationMemory {
    private let monitor: MemoryMonitor

    /// Watches the groups of a process; `nil` if none of them has a limit, apart from those that are watched anyway.
    ///
    /// - Parameters:
    ///   - process: The process.
    ///   - hierarchy: The directory of the applications' own groups, which is watched with those above it.
    init?(of process: Int32, below hierarchy: String?) {
        let machineMemory = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        let groups = Self.groups(of: process, below: hierarchy).filter { group in
            group.share(files: FileSystem(), machineMemory: machineMemory) != nil
        }
        guard !groups.isEmpty else { return nil }
        // ``MemoryWatch`` has the stalls of the machine.
        monitor = MemoryMonitor(groups: groups, watchesMachine: false) {}
    }

    private static func groups(of process: Int32, below hierarchy: String?) -> [MemoryControlGroup] {
        let own = lines(of: "self")
        let other = lines(of: "\(process)")
        let roots = MemoryControlGroup.standardMounts.unified
        return other.filter { !own.contains($0) }.flatMap { line -> [MemoryControlGroup] in
            guard line.hasPrefix("0::") else { return MemoryControlGroup.all(in: line) }
            let ownPath = own.first { $0.hasPrefix("0::") }.map { String($0.dropFirst(3)) } ?? "/"
            return roots.flatMap { root in
                let watched = ["\(root)\(ownPath)/", "\(hierarchy ?? "")/"]
                return ancestors(of: String(line.dropFirst(3))).map { root + $0 }.filter { path in
                    !watched.contains { $0.hasPrefix("\(path)/") }
                }
            }.map { MemoryControlGroup.unified(at: $0) }
        }
    }

    private static func lines(of process: String) -> [String] {
        (KernelFile.read("/proc/\(process)/cgroup") ?? "").split(separator: "\n").map(String.init)
    }

    /// Returns a path and those above it, without the root.
    private static func ancestors(of path: String) -> [String] {
        let names = path.pathParts.filter { !$0.isEmpty }
        return (0..<names.count).map { count in names.prefix(count + 1).map { "/\($0)" }.joined() }
    }

    var nextDeadline: Duration { monitor.nextReadingTime }

    func pollDescriptors(at now: Duration) -> [pollfd] { monitor.pollDescriptors(at: now) }

    func recordEvents(from polled: [pollfd]) { if !polled.isEmpty { monitor.recordEvents(from: polled) } }

    /// Reads the memory if that is due; returns the pressure if the application is to be warned.
    func read(at now: Duration) -> MemoryPressure? {
        let reading = monitor.read(at: now)
        return reading.isCurrent && reading.level > .normal ? reading.level : nil
    }
}
