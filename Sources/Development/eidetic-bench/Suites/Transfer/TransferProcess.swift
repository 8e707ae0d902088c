import EideticCore
import EideticTestSupport
import EideticTransfer
import Glibc

/// The transfer process, in a directory and at a socket of its own.
final class TransferProcess {
    let directory: TemporaryDirectory
    private let listener: PacketSocket
    private var identifier: pid_t = 0

    init() throws {
        directory = try TemporaryDirectory(named: "transfer")
        listener = try PacketSocket.listen(at: directory.path(of: "socket"))
        try start()
    }

    deinit { kill() }

    /// Starts the program beside this one.
    func start() throws {
        let program = try MeasuredProcess.path(ofProgramBesideThis: "eidetic-transferd")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, listener.rawValue, 3)
        let words = [
            program, "--socket-descriptor", "3", "--directory", directory.path(of: "transfers"), "--idle-exit", "never",
        ]
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        let error = posix_spawn(&identifier, program, &actions, nil, &pointers, environ)
        guard error == 0 else {
            throw UsageError(message: "\(program) cannot be started: \(SystemError.message(for: error))")
        }
    }

    func kill() {
        guard identifier > 0 else { return }
        Glibc.kill(identifier, SIGKILL)
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        identifier = 0
    }

    /// Connects, and opens the session "bench".
    func connect() async throws -> TransferClient {
        let socket = try PacketSocket.connect(to: directory.path(of: "socket"))
        let client = try TransferClient(socket: socket, application: "org.eidetic.Bench") {}
        try await client.openSession(TransferSessionConfiguration(identifier: "bench"))
        return client
    }

    /// The resident memory in bytes.
    func residentMemory() throws -> Double {
        let text = String(decoding: try FileSystem().contents(of: "/proc/\(identifier)/status"), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return 1_024 * (Double(line.filter(\.isNumber)) ?? .nan)
    }

    /// The processor time in seconds.
    func processorTime() throws -> Double {
        let text = String(decoding: try FileSystem().contents(of: "/proc/\(identifier)/stat"), as: UTF8.self)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return .nan }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

/// Counts the events of the session "bench".
final class EventCount: Sendable {
    private let state = Guarded((events: [UInt64](), goal: Int.max, gate: Gate?.none))

    func record(_ notification: TransferNotification) {
        guard case .event(let event) = notification else { return }
        let gate = state.withLock { state -> Gate? in
            state.events.append(event.number)
            return state.events.count >= state.goal ? state.gate : nil
        }
        gate?.open()
    }

    /// Waits for a number of events, and returns their numbers.
    func wait(for count: Int) async -> [UInt64] {
        let gate = Gate()
        let isReached = state.withLock { state in
            state.goal = count
            state.gate = gate
            return state.events.count >= count
        }
        if !isReached { await gate.wait() }
        return state.withLock { state in
            defer { state = ([], .max, nil) }
            return state.events
        }
    }
}
