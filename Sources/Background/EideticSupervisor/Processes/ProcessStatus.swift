import EideticCore
import Glibc

/// The line of a process or thread in `/proc/PID/stat`.
///
/// - SeeAlso: proc_pid_stat(5)
package struct ProcessStatus: Sendable, Hashable {
    package let identifier: Int32
    package let parent: Int32
    package let group: Int32
    package let session: Int32
    /// The group in the foreground of the process's terminal; `nil` without a terminal.
    package let terminalGroup: Int32?
    /// One letter, such as "R", "S", "D", "T" (stopped), "Z" (ended, not yet collected).
    package let state: Character
    /// The processor time, in the kernel's ticks.
    package let ticks: UInt64
    /// The moment of the start, in the kernel's ticks since the boot; identifies the process among those of one number.
    package let startTime: UInt64
    /// A Boolean value indicating whether the process executes a program that it has started itself, not that of the
    /// process from which it was born.
    package let hasExecuted: Bool

    /// The flag of a process that was born, and has executed nothing since (`PF_FORKNOEXEC`).
    private static let bornFlag: UInt64 = 0x40

    /// Reads the status of a process; `nil` if there is none.
    package init?(of identifier: Int32) {
        guard let line = KernelFile.read("/proc/\(identifier)/stat", limit: 4_096) else { return nil }
        self.init(line: line)
    }

    /// Parses the line; the name of the program may contain spaces and parentheses.
    package init?(line: String) {
        // A name may begin with a combining mark, of which the parenthesis is a `Character` with it.
        guard let open = line.utf8.firstIndex(of: UInt8(ascii: "(")),
            let close = line.utf8.lastIndex(of: UInt8(ascii: ")")), open < close
        else { return nil }
        guard let identifier = Int32(line[..<open].filter { $0 != " " }) else { return nil }
        let fields = line[line.utf8.index(after: close)...].split(whereSeparator: \.isWhitespace)
        guard fields.count >= 20, let state = fields[0].first, let parent = Int32(fields[1]) else { return nil }
        guard let group = Int32(fields[2]), let session = Int32(fields[3]), let terminal = Int32(fields[4]),
            let front = Int32(fields[5])
        else { return nil }
        self.group = group
        self.session = session
        terminalGroup = terminal == 0 || front <= 0 ? nil : front
        guard let user = UInt64(fields[11]), let system = UInt64(fields[12]), let start = UInt64(fields[19]) else {
            return nil
        }
        guard let flags = UInt64(fields[6]) else { return nil }
        hasExecuted = flags & Self.bornFlag == 0
        self.identifier = identifier
        self.parent = parent
        self.state = state
        ticks = user &+ system
        startTime = start
    }

    /// A Boolean value indicating whether the process is in the foreground of its terminal; `nil` without a terminal.
    package var isForegroundJob: Bool? { terminalGroup.map { $0 == group } }

    /// A Boolean value indicating whether the process executes nothing: stopped, or ended.
    package var isStopped: Bool { "TtZX".contains(state) }

    /// The status of every process that can be seen.
    package static var all: [ProcessStatus] {
        KernelFile.names(in: "/proc").compactMap { Int32($0) }.compactMap { ProcessStatus(of: $0) }
    }
}

extension ProcessStatus {
    /// A Boolean value indicating whether a thread of the process has not ended; the first one may end before others.
    package var hasLiveThread: Bool {
        if !"ZX".contains(state) { return true }
        return Self.threads(of: identifier).contains { !"ZX".contains($0.state) }
    }

    /// Returns the statuses of a process's threads.
    package static func threads(of identifier: Int32) -> [ProcessStatus] {
        KernelFile.names(in: "/proc/\(identifier)/task").compactMap { thread in
            KernelFile.read("/proc/\(identifier)/task/\(thread)/stat", limit: 4_096).flatMap { ProcessStatus(line: $0) }
        }
    }

    /// Returns the processor time of a process; `nil` if it has ended.
    package static func processorTime(of identifier: Int32) -> Duration? {
        let perSecond = Int64(sysconf(Int32(_SC_CLK_TCK)))
        return ProcessStatus(of: identifier).map { .milliseconds(Int64($0.ticks) * 1_000 / max(1, perSecond)) }
    }

    /// Returns the user of a process; `nil` if it has ended.
    package static func user(of identifier: Int32) -> UInt32? {
        var status = stat()
        return stat("/proc/\(identifier)", &status) == 0 ? status.st_uid : nil
    }

    /// Returns the process that traces a process; `nil` if none does.
    package static func tracer(of identifier: Int32) -> Int32? {
        guard let text = KernelFile.read("/proc/\(identifier)/status", limit: 16_384) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("TracerPid:") }
        return line.flatMap { Int32($0.dropFirst(10).filter(\.isNumber)) }.flatMap { $0 == 0 ? nil : $0 }
    }

    /// Returns the value of a variable in the environment with which a program was started; `nil` if it has none.
    package static func environmentValue(of name: String, in identifier: Int32) -> String? {
        guard let text = KernelFile.read("/proc/\(identifier)/environ") else { return nil }
        let lines = text.utf8.split(separator: 0).lazy.map { Substring($0) }
        return lines.compactMap { $0.rest(behind: "\(name)=") }.first.map(String.init)
    }
}
