import CLinux
import EideticCore
import Glibc

/// A child of this process, from its start to its end.
final class ChildProcess: Sendable {
    let identifier: Int32
    private let descriptor: Guarded<Int32>
    private let isEnded = Guarded(false)
    private let parent = getpid()

    private init(identifier: Int32, descriptor: Int32) {
        self.identifier = identifier
        self.descriptor = Guarded(descriptor)
    }

    deinit {
        end()
        descriptor.withLock { _ = close($0) }
    }

    /// The thread that starts children, which never ends: the kernel ends a decoding process with it.
    private static let starter = WorkPool(name: "eidetic start", maximumThreadCount: 1)
    /// The threads that wait for the ends of children, which may take as long as their memory is released.
    private static let reaper = WorkPool(name: "eidetic reap", maximumThreadCount: 2)

    /// Starts a program with a socket as its descriptor 3; blocks for a millisecond or two.
    static func start(_ program: HelperProgram, passing socket: PacketSocket) throws(SystemError) -> ChildProcess {
        let outcome = Monitor<Result<ChildProcess, SystemError>?>(nil)
        starter.enqueue {
            let result = spawn(program, passing: socket)
            outcome.withLock { $0 = result }
            outcome.broadcast()
        }
        return try outcome.wait { $0 }.get()
    }

    private static func spawn(
        _ program: HelperProgram,
        passing socket: PacketSocket
    ) -> Result<ChildProcess, SystemError> {
        var words: [UnsafeMutablePointer<CChar>?] = ([program.path] + program.arguments).map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = program.environment.map { strdup($0) } + [nil]
        defer { (words + environment).forEach { free($0) } }
        var identifier: Int32 = 0
        let error = eidetic_start_helper(program.path, &words, &environment, socket.rawValue, &identifier)
        guard error == 0 else { return .failure(SystemError(.spawn, errorNumber: error, path: program.path)) }
        let number = eidetic_open_process(identifier)
        guard number < 0 else { return .success(ChildProcess(identifier: identifier, descriptor: number)) }
        // Before Linux 5.3, or without a free descriptor: its end could be neither seen nor caused safely later.
        let failure = SystemError(.pidfdOpen, errorNumber: errno, path: program.path)
        kill(identifier, SIGKILL)
        reap(identifier)
        return .failure(failure)
    }

    private static func reap(_ identifier: Int32) {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    }

    /// A Boolean value indicating whether the process has ended, or was told to.
    var hasEnded: Bool { isEnded.withLock { $0 } || isGone }

    private var isGone: Bool {
        descriptor.withLock { number in
            var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 0) != 0
        }
    }

    /// The way in which a process has ended.
    enum End {
        case exit(status: Int32)
        case signal(Int32)
        /// It has not ended yet, or the application has reaped it.
        case unknown
    }

    var endState: End {
        var information = siginfo_t()
        // Waits for the end that the closed socket announces, and leaves the process to be reaped.
        for _ in 0..<50 where !isGone { usleep(1_000) }
        guard waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT | WNOHANG) == 0,
            information._sifields._sigchld.si_pid == identifier
        else { return .unknown }
        let status = information._sifields._sigchld.si_status
        return information.si_code == Int32(CLD_EXITED) ? .exit(status: status) : .signal(status)
    }

    /// Ends the process, and has it reaped; has no effect the second time.
    func end() {
        let isFirst = isEnded.withLock { isEnded in
            defer { isEnded = true }
            return !isEnded
        }
        // A copy of this process, by `fork`, leaves the children to their parent.
        guard isFirst, getpid() == parent else { return }
        descriptor.withLock { _ = eidetic_signal_process($0, SIGKILL) }
        Self.reaper.enqueue { [identifier] in Self.reap(identifier) }
    }
}
