import CSupervisor
package import EideticCore
import Glibc

/// A freezer that uses a control group of version 2, which contains the application from its birth.
package final class GroupFreezer: Freezer {
    /// The directory of the group.
    package let path: String
    private let directory: FileDescriptor
    /// The two files that each suspension uses, which stay open; -1 if one cannot be opened.
    private let freezeFile: Int32
    private let eventsFile: Int32

    /// The application's first process, which must stay in the group.
    private var root: ProcessHandle?
    private var mark = ""
    private var isForeign: (Int32) -> Bool = { _ in false }
    private var orphans: () -> [Int32] = { [] }
    /// The processes that had left the group and were taken back.
    private var regained: Set<Int32> = []

    /// The time after which a freeze is confirmed later.
    private static let immediateTime: Duration = .milliseconds(1)
    /// The greatest number of nested groups that are looked at.
    private static let nestedLimit = 256

    package let kind = FreezerKind.group

    /// Opens the group at a path, and creates it if there is none.
    package convenience init(path: String) throws(SystemError) {
        if mkdir(path, 0o755) != 0, errno != EEXIST { throw SystemError(.mkdir, errorNumber: errno, path: path) }
        try self.init(existing: path)
    }

    /// Opens the group at a path.
    package init(existing path: String) throws(SystemError) {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw SystemError(.open, errorNumber: errno, path: path) }
        directory = FileDescriptor(adopting: number)
        freezeFile = openat(number, "cgroup.freeze", O_RDWR | O_CLOEXEC)
        eventsFile = openat(number, "cgroup.events", O_RDONLY | O_CLOEXEC)
        self.path = path
    }

    deinit {
        for file in [freezeFile, eventsFile] where file >= 0 { close(file) }
    }

    /// Sets the first process, which is checked at each suspension, and killed wherever it is.
    ///
    /// - Parameters:
    ///   - root: The application's first process.
    ///   - mark: The value of ``SignalFreezer/markName`` in its environment, which no other application has.
    ///   - isForeign: Returns whether a process is the first one of another application, which is left alone.
    ///   - orphans: Returns the orphans of all applications, which have this process or its keeper as their parent.
    package func setRoot(
        _ root: ProcessHandle,
        mark: String,
        isForeign: @escaping (Int32) -> Bool = { _ in false },
        orphans: @escaping () -> [Int32] = { [] }
    ) {
        self.root = root
        self.mark = mark
        self.isForeign = isForeign
        self.orphans = orphans
    }

    /// The descriptor in which a process begins.
    package var descriptor: Int32 { directory.rawValue }

    /// Writes the request, then reads the state: the kernel reports changes late, but states them at once.
    package func freeze() -> Bool {
        guard requestFreeze("1") else { return false }
        let end = Clock.now + Self.immediateTime
        repeat {
            if isFrozen { return true }
            sched_yield()
        } while Clock.now < end
        return false
    }

    /// Takes back the first process with its tree, the children of those that are in the group, and orphans.
    package func regainRoot(from found: [Int32]) -> Bool {
        let known = Set(found)
        var strays = found.flatMap { SignalFreezer.children(of: $0) }.filter { !isForeign($0) }
        strays += strayOrphans(notIn: known)
        if let root, !root.hasEnded, !known.contains(root.identifier) {
            strays += SignalFreezer(root: root, mark: mark, isForeign: isForeign).processes
        }
        strays = strays.filter { process in
            // One that has ended is in no group.
            !known.contains(process) && ProcessStatus(of: process)?.hasLiveThread == true
        }
        for process in strays { _ = write("\(process)", to: "cgroup.procs") }
        regained.formUnion(strays)
        return strays.isEmpty
    }

    /// Returns the orphans of the application that are not in the group, with what they have started.
    private func strayOrphans(notIn known: Set<Int32>) -> [Int32] {
        let own = orphans().filter { process in
            !known.contains(process) && ProcessStatus.environmentValue(of: SignalFreezer.markName, in: process) == mark
        }
        return own.compactMap { ProcessHandle(identifier: $0) }.flatMap { orphan in
            SignalFreezer(root: orphan, mark: mark, isForeign: isForeign).processes
        }
    }

    /// Returns the processes that were taken back since the last call.
    func takeRegained() -> [Int32] {
        defer { regained = [] }
        return regained.sorted()
    }

    package var isFrozen: Bool { value(of: "frozen") == 1 }

    package var isFreezeRequested: Bool {
        var character: UInt8 = 0
        return pread(freezeFile, &character, 1, 0) == 1 && character == UInt8(ascii: "1")
    }

    package func thaw() { _ = requestFreeze("0") }

    private func requestFreeze(_ digit: String) -> Bool { pwrite(freezeFile, digit, 1, 0) == 1 }

    package func kill() {
        let found = processes
        for orphan in strayOrphans(notIn: Set(found)) { ProcessHandle(identifier: orphan)?.signal(SIGKILL) }
        killGroup()
        guard let root, !root.hasEnded else { return }
        if !found.contains(root.identifier) { SignalFreezer(root: root, mark: mark, isForeign: isForeign).kill() }
        root.signal(SIGKILL)
    }

    private func killGroup() {
        if write("1", to: "cgroup.kill") { return }
        // Linux before 5.14: signals reach frozen processes too; a new child is found by the next round.
        for _ in 0..<100 {
            let left = processes
            if left.isEmpty { return }
            for identifier in left { ProcessHandle(identifier: identifier)?.signal(SIGKILL) }
        }
    }

    package var processes: [Int32] {
        ([""] + nestedGroups).flatMap { (read("\($0)cgroup.procs") ?? "").split(separator: "\n") }
            .compactMap { Int32($0) }.filter { $0 > 0 }
    }

    /// The groups that the application has made below its own, each after the one that contains it, as "a/", "a/b/".
    private var nestedGroups: [String] {
        var status = stat()
        // Two links, and one for each directory in it.
        guard fstat(directory.rawValue, &status) == 0, status.st_nlink > 2 else { return [] }
        var groups = [""]
        var next = 0
        while next < groups.count, groups.count < Self.nestedLimit {
            let group = groups[next]
            next += 1
            for name in KernelFile.names(in: "\(path)/\(group)") {
                guard lstat("\(path)/\(group)\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                    continue
                }
                groups.append("\(group)\(name)/")
            }
        }
        return Array(groups.dropFirst())
    }

    package func remove() -> Bool {
        for group in nestedGroups.reversed() { rmdir("\(path)/\(group)") }
        return rmdir(path) == 0 || errno == ENOENT
    }

    /// Sets the share of the processor to the least or the default one; returns `false` without the controller.
    package func setLowWeight(_ isLow: Bool) -> Bool { write(isLow ? "1" : "100", to: "cpu.weight") }

    /// The processor time of all processes that were in the group; `nil` if the kernel does not count it.
    package var processorTime: Duration? {
        read("cpu.stat").flatMap { Self.value(of: "usage_usec", in: $0) }.map { .microseconds($0) }
    }

    /// Returns a number in the file of events, which the kernel writes anew for each reading from its beginning.
    private func value(of name: String) -> Int? {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 256) { buffer, initialized in
            count = pread(eventsFile, buffer.baseAddress, buffer.count, 0)
            initialized = max(0, count)
        }
        return count > 0 ? Self.value(of: name, in: String(decoding: bytes, as: UTF8.self)) : nil
    }

    private static func value(of name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") where line.hasPrefix("\(name) ") {
            return Int(line.dropFirst(name.utf8.count + 1))
        }
        return nil
    }

    private func read(_ name: String) -> String? {
        let number = openat(directory.rawValue, name, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let file = FileDescriptor(adopting: number)
        var text = ""
        while true {
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, initialized in
                count = Glibc.read(file.rawValue, buffer.baseAddress, buffer.count)
                initialized = max(0, count)
            }
            if count <= 0 { return count < 0 ? nil : text }
            text += String(decoding: bytes, as: UTF8.self)
        }
    }

    private func write(_ text: String, to name: String) -> Bool {
        let number = openat(directory.rawValue, name, O_WRONLY | O_CLOEXEC)
        guard number >= 0 else { return false }
        let file = FileDescriptor(adopting: number)
        return text.withCString { Glibc.write(file.rawValue, $0, strlen($0)) } == text.utf8.count
    }
}
