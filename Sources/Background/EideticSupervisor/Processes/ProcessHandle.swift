import CLinux
import CSupervisor
import EideticCore
import Glibc

/// A process, by a descriptor that never refers to a later process of the same number.
package final class ProcessHandle {
    package let identifier: Int32
    /// The moment of the start, in the kernel's ticks since the boot.
    package let startTime: UInt64
    private let descriptor: FileDescriptor

    /// The descriptor, which is readable when the process has ended.
    package var rawValue: Int32 { descriptor.rawValue }

    /// Adopts the descriptor of a process that this process has just started.
    init(identifier: Int32, adopting descriptor: Int32) {
        self.identifier = identifier
        self.descriptor = FileDescriptor(adopting: descriptor)
        startTime = ProcessStatus(of: identifier)?.startTime ?? 0
    }

    /// Opens a process that runs; `nil` if it has ended, or if another process has its number.
    ///
    /// - Parameters:
    ///   - identifier: The number of the process.
    ///   - expected: The expected moment of its start; any if `nil`.
    package init?(identifier: Int32, startTime expected: UInt64? = nil) {
        guard identifier > 0 else { return nil }
        let number = eidetic_open_process(identifier)
        guard number >= 0 else { return nil }
        descriptor = FileDescriptor(adopting: number)
        self.identifier = identifier
        // Read after the descriptor was opened: both belong to the same process if it still runs.
        guard let status = ProcessStatus(of: identifier), status.hasLiveThread else { return nil }
        guard expected.map({ $0 == status.startTime }) ?? true else { return nil }
        startTime = status.startTime
    }

    /// Sends a signal; returns `false` if the process has ended or may not be signalled.
    @discardableResult
    package func signal(_ number: Int32) -> Bool { eidetic_signal_process(rawValue, number) == 0 }

    /// A Boolean value indicating whether the process has ended, collected or not.
    package var hasEnded: Bool {
        var polled = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) == 1
    }

    /// Collects the end of the process; `nil` if it runs.
    ///
    /// The status of a process that another one has started is known on Linux 6.15 and later, after it was collected.
    package func takeEnd() -> ProcessEnd? {
        var status: Int32 = 0
        guard hasEnded else { return nil }
        if eidetic_reap_process(rawValue, &status) == 1 { return ProcessEnd(waitStatus: status) }
        return eidetic_read_exit_status(rawValue, &status) == 1 ? ProcessEnd(waitStatus: status) : .unknown
    }
}

/// The way in which a process ended.
package enum ProcessEnd: Sendable, Hashable {
    case exited(Int32)
    case signalled(Int32)
    /// The process was started by an earlier supervisor, and the kernel does not keep its status.
    case unknown

    /// Converts a status of `waitpid(2)`.
    package init(waitStatus: Int32) {
        let signal = waitStatus & 0x7f
        self = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .signalled(signal)
    }

    /// The status as `waitpid(2)` has it; -1 if it is not known.
    package var waitStatus: Int32 {
        switch self {
        case .exited(let status): (status & 0xff) << 8
        case .signalled(let signal): signal
        case .unknown: -1
        }
    }
}

extension ProcessEnd {
    /// The end in words.
    package var explanation: String {
        switch self {
        case .exited(let status): "exit status \(status)"
        case .signalled(let number): "signal \(number)"
        case .unknown: "status unknown, as this eideticd has not started it"
        }
    }
}
