import EideticCore
import EideticProbeWords
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

extension Daemon {
    /// Starts an application that uses the library, and returns its words.
    func launchApplication(
        _ identifier: String,
        _ arguments: [String] = [],
        program name: String? = nil
    ) throws -> SharedWords {
        let path = directory.path(of: "\(identifier).words")
        let words = try SharedWords(path: path, count: ProbeWord.count)
        var program = ProgramDescription(
            executable: name == nil ? Self.executable("EideticApplicationProbe") : Self.probe
        )
        program.arguments = (name.map { [$0] } ?? []) + ["--words", path] + arguments
        program.environment = ["PATH=/usr/bin:/bin"]
        try perform(.install(identifier: identifier, program: program))
        try perform(.launch(identifier: identifier, url: nil, inBackground: false))
        return words
    }
}

/// An application that is suspended and continued again and again, and what the kernel says of it.
final class SuspensionCycle {
    let identifier: String
    let words: SharedWords
    let process: Int32
    private let daemon: Daemon
    private let changes: ChangeReports
    private let page: SharedPageFile
    private(set) var count: UInt64 = 0

    /// Starts the application and waits until it is active.
    init(
        _ identifier: String,
        _ arguments: [String],
        program: String? = nil,
        of daemon: Daemon
    ) async throws {
        (self.identifier, self.daemon) = (identifier, daemon)
        changes = ChangeReports(of: daemon)
        words = try daemon.launchApplication(identifier, arguments, program: program)
        await daemon.expectState(.active, of: identifier)
        guard let process = try daemon.status(of: identifier)?.process else {
            throw SystemError(.open, errorNumber: ESRCH, path: identifier)
        }
        self.process = process
        page = try SharedPageFile.open(at: daemon.directory.path(of: "run/applications/\(identifier)/page.1"))
    }

    /// Asks for the suspension; the next one is counted by the supervisor, on the page.
    func requestSuspension() throws { try daemon.perform(.background(identifier: identifier)) }

    /// A Boolean value indicating whether the requested suspension has been committed.
    var isSuspended: Bool { page[.suspensionCount] ?? 0 > count }

    /// Requests the suspension and waits for it.
    func suspend() throws {
        try requestSuspension()
        try changes.wait { isSuspended }
    }

    /// Continues the application.
    func resume() throws {
        count += 1
        try daemon.perform(.foreground(identifier: identifier))
    }

    /// A Boolean value indicating whether a thread has marked that it is inside a task.
    var isInsideTask: Bool {
        (0..<ProbeWord.stormThreads).contains { words[ProbeWord.mark(ofThread: $0)] != 0 }
    }

    /// A Boolean value indicating whether the kernel has stopped every thread.
    var isStopped: Bool {
        if daemon.freezer == .signals { return ProcessStatus.threads(of: process).allSatisfy(\.isStopped) }
        let events = GroupHierarchy.group(of: process).flatMap { KernelFile.read("\($0)/cgroup.events") }
        return events?.contains("frozen 1") == true
    }

    /// The locks of byte 0 of a file that the process holds, as the kernel lists them.
    var heldLocks: [String] {
        KernelFile.names(in: "/proc/\(process)/fdinfo").flatMap { name in
            (KernelFile.read("/proc/\(process)/fdinfo/\(name)") ?? "").split(separator: "\n").map(String.init)
        }.filter { $0.hasPrefix("lock:") && $0.hasSuffix(" 0 0") }
    }
}
