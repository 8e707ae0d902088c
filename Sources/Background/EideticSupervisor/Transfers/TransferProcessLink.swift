import EideticCore
import EideticSupervision
import Glibc

/// The transfer process, which the supervisor starts, and starts again when it has ended.
///
/// The supervisor listens at the socket of the transfer process, so that clients can connect while it starts.
final class TransferProcessLink {
    /// Called with the name of an application and a session whose events wait.
    var onWake: (String, String) -> Void = { _, _ in }
    /// Called when a process was started, which knows nothing of the applications.
    var onStart: () -> Void = {}
    /// Called with the reason for which no process could be started, once for each reason until one has started.
    var onFailure: (String) -> Void = { _ in }

    private let configuration: SupervisorConfiguration.Transfers
    private let poller: Poller
    private let files = FileSystem()
    private var listener: PacketSocket?
    /// The lock by which one supervisor at a time starts the transfer process of a directory.
    private var directoryLock: FileDescriptor?
    private var process: ProcessHandle?
    private var connection: Connection?
    private var watch: Poller.Watch?
    /// The report of the birth of the process, until the program has started or cannot start, and the end of its time.
    private var birth: (report: StartReport, watch: Poller.Watch, deadline: Poller.Alarm)?
    /// The time of the next start.
    private lazy var nextStart = poller.alarm { [unowned self] in self.start() }
    private var lastFailure: String?
    private var lastStart: Duration = .zero
    private var pause: Duration = .zero

    /// The pauses before starts of a process that ends at once again.
    private static let firstPause: Duration = .milliseconds(10)
    private static let longestPause: Duration = .seconds(10)
    /// The time after which a process counts as one that works.
    private static let trialTime: Duration = .seconds(10)
    /// The time in which the program starts; one on a file system that hangs does not.
    private static let birthLimit: Duration = .seconds(20)

    init(_ configuration: SupervisorConfiguration.Transfers, poller: Poller) {
        self.configuration = configuration
        self.poller = poller
    }

    /// The number of the process; `nil` if none runs.
    var identifier: Int32? { process?.identifier }

    private func abandonBirth() {
        birth = nil
        abandonSocket(because: "its program has not started in time")
        process?.signal(SIGKILL)
    }

    /// Sends a message; one that no process receives is not needed, because the next one is told everything.
    func send(_ message: TransferSupervision) { connection?.send(WireWriter.encode(message)) }

    /// Ends a process that has not started its program; a later supervisor starts another one.
    func stop() { if birth != nil { process?.signal(SIGKILL) } }

    // MARK: The process

    func start() {
        lastStart = Clock.now
        do throws(SystemError) {
            try lockDirectory()
            let listener = try listen()
            let (own, inherited) = try PacketSocket.makePair()
            _ = try own.send(WireWriter.encode(TransferSupervision.listener), descriptors: [listener.rawValue])
            var places = ProgramLaunch.Places()
            places.socket = inherited.rawValue
            let (process, report) = try ProgramLaunch(program).begin(at: places)
            report.permitStart()
            self.process = process
            watch = poller.watch(process.rawValue) { [unowned self] in self.processDidEnd() }
            let birthWatch = poller.watch(report.rawValue) { [unowned self] in self.readBirthReport() }
            let deadline = poller.alarm { [unowned self] in self.abandonBirth() }
            deadline.time = lastStart + Self.birthLimit
            birth = (report, birthWatch, deadline)
            connect(own)
            onStart()
        } catch {
            abandonSocket(because: "\(error)")
            startLater()
        }
    }

    /// Reads whether the program has started; a process that could not start it ends.
    private func readBirthReport() {
        guard let outcome = birth?.report.take() else { return }
        birth = nil
        switch outcome {
        case .started: reportStart()
        case .failed(let error): abandonSocket(because: "\(ProgramLaunch(program).failure(error))")
        }
    }

    private func reportStart() {
        lastFailure = nil
        let process = process.map { "process \($0.identifier)" } ?? "it"
        Log.write(.info, category: .background, message: "the transfer process runs: \(process)")
    }

    /// Closes the socket: a client then starts the process itself, instead of waiting for a reply.
    private func abandonSocket(because reason: String) {
        if reason != lastFailure { onFailure(reason) }
        lastFailure = reason
        if listener != nil { unlink(configuration.socketPath) }
        listener = nil
    }

    private var program: ProgramDescription {
        var program = ProgramDescription(executable: configuration.program)
        program.arguments = [
            "--supervisor-descriptor", "\(ProgramLaunch.socketDescriptor)", "--replace", "--directory",
            configuration.directory,
        ]
        var variable = environ
        while let text = variable.pointee {
            program.environment.append(String(cString: text))
            variable = variable.successor()
        }
        return program
    }

    private func connect(_ socket: PacketSocket) {
        let connection = Connection(socket: socket, poller: poller, limiter: MessageLimiter(rate: 1_000))
        connection.receive = { [unowned self] packet in self.receive(packet.bytes) }
        // The process has closed its end, or does not read: either way it is of no use.
        connection.end = { [unowned self] in
            self.connection = nil
            self.process?.signal(SIGKILL)
        }
        self.connection = connection
        connection.start()
    }

    private func receive(_ bytes: [UInt8]) {
        guard case .wake(let application, let session)? = try? WireReader.decode(TransferSupervision.self, from: bytes)
        else { return }
        onWake(application, session)
    }

    private func processDidEnd() {
        guard let end = process?.takeEnd() else { return }
        readBirthReport()
        birth = nil
        connection?.close()
        process = nil
        connection = nil
        watch = nil
        Log.write(.info, category: .background, message: "the transfer process has ended: \(end)")
        if Clock.now - lastStart >= Self.trialTime { pause = .zero }
        startLater()
    }

    private func startLater() {
        nextStart.time = Clock.now + pause
        pause = min(max(pause * 2, Self.firstPause), Self.longestPause)
    }

    // MARK: The directory

    /// Takes the right to start the transfer process of the directory.
    ///
    /// Otherwise each of two supervisors would replace the process of the other one again and again.
    private func lockDirectory() throws(SystemError) {
        guard directoryLock == nil else { return }
        try files.makeDirectories(configuration.directory)
        let path = "\(configuration.directory)/supervisor"
        let lock = try files.open(path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        do throws(SystemError) { try files.lock(lock, operation: LOCK_EX | LOCK_NB) } catch {
            throw error.errorNumber == EWOULDBLOCK
                ? SystemError(.flock, errorNumber: EBUSY, path: "\(path), which another supervisor has") : error
        }
        directoryLock = consume lock
    }

    // MARK: The socket

    /// Listens in place of a socket that an earlier process has left.
    ///
    /// A client that starts a transfer process of its own has the lock meanwhile: a later attempt follows.
    private func listen() throws(SystemError) -> PacketSocket {
        if let listener { return listener }
        let path = configuration.socketPath
        try files.makeDirectories(path.parentPath ?? "")
        let lock = try files.open(TransferLocations.lockPath(for: path), flags: O_RDWR | O_CREAT | O_NOFOLLOW)
        try files.lock(lock, operation: LOCK_EX | LOCK_NB)
        let socket = try PacketSocket.listen(replacing: path)
        listener = socket
        return socket
    }
}
