import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import EideticLifecycle

/// A supervisor with a transfer process, in a directory of its own, and one application.
final class SupervisedPlace: Sendable {
    static let application = "org.example.Probe"

    let place: ServicePlace
    private let processes = Guarded<[Subprocess]>([])
    private let changes: RecordChanges

    init() async throws {
        place = try ServicePlace()
        let applications = place.directory.path(of: "run/applications/\(Self.application)")
        try FileSystem().makeDirectories(applications, mode: 0o700)
        changes = try RecordChanges(of: applications)
        try await startSupervisor()
    }

    /// The current supervisor.
    var supervisor: Subprocess? { processes.withLock { $0.last } }

    /// The output of all supervisors and of the applications that they have started.
    var output: String { processes.withLock { $0 }.map(\.outputSoFar).joined() }

    /// Starts a supervisor, and waits until it is ready.
    func startSupervisor() async throws {
        let process = try makeSupervisor(runtimeDirectory: "run", transferSocket: "socket")
        processes.withLock { $0.append(process) }
        guard await process.waitForOutput("ready") else {
            throw SystemError(.open, errorNumber: ENOENT, path: "eideticd: \(process.errorsSoFar)")
        }
    }

    /// Starts a supervisor with the directory of transfers of this place; its errors have the lines of its log.
    func makeSupervisor(runtimeDirectory: String, transferSocket: String) throws -> Subprocess {
        let directory = place.directory
        return try Subprocess(
            BuiltProgram.path(of: "eideticd"),
            arguments: [
                "--freezer", "sigstop", "--runtime-directory", directory.path(of: runtimeDirectory),
                "--state-directory", directory.path(of: "state"), "--transfers", ServicePlace.service,
                "--transfer-socket", directory.path(of: transferSocket), "--transfer-directory",
                directory.path(of: "service"),
            ],
            environment: ["EIDETIC_LOG": "background=info"]
        )
    }

    private static let probe = BuiltProgram.path(of: "eidetic-probe")

    /// Makes the probe known as an application; returns the path of its program, which may be a link to it.
    @discardableResult
    func install(session: String, url: String, count: Int, throughLink: Bool = false) throws -> String {
        let path = throughLink ? place.directory.path(of: "eidetic-probe") : Self.probe
        if throughLink { try replace(path, by: nil) }
        var program = ProgramDescription(executable: path)
        program.arguments = [
            "session", place.directory.path, ServicePlace.service, session, url, "\(count)", "application",
        ]
        program.environment = ["PATH=/usr/bin:/bin"]
        try perform(.install(identifier: Self.application, program: program))
        return path
    }

    /// Replaces a program by a script, or by a link to the probe for `nil`.
    func replace(_ path: String, by script: String?) throws {
        let other = "\(path).new"
        if let script {
            try place.directory.write(Array(script.utf8), to: "eidetic-probe.new")
            chmod(other, 0o755)
        } else {
            symlink(Self.probe, other)
        }
        try FileSystem().rename(other, to: path)
    }

    /// Launches the application unless it runs; visibly if it was killed too often while it was launched.
    func launch(inBackground: Bool) throws {
        for _ in 0..<Self.launchAttempts {
            for inBackground in [inBackground, false] where try status?.process == nil {
                _ = try request(.launch(identifier: Self.application, url: nil, inBackground: inBackground))
            }
            if try status?.process != nil { return }
        }
        throw SystemError(.open, errorNumber: ESRCH, path: "the application was not launched: \(log)")
    }

    private static let launchAttempts = 16

    /// Kills the application, and waits until the supervisor has noticed; returns whether one ran.
    func killApplication() async throws -> Bool {
        let running = place.processes(
            running: BuiltProgram.path(of: "eidetic-probe"),
            with: place.directory.path
        )
        for process in running { kill(process, SIGKILL) }
        while let process = try status?.process, running.contains(process) { await changes.next() }
        return !running.isEmpty
    }

    /// Kills the supervisor, and waits for its end.
    ///
    /// Its applications keep its output open.
    func killSupervisor() async {
        guard let supervisor else { return }
        supervisor.kill()
        waitForEnd(of: supervisor)
    }

    /// Waits for the end of a process whose output others may keep open.
    func waitForEnd(of process: Subprocess) {
        var status = siginfo_t()
        waitid(P_PID, id_t(process.identifier), &status, Int32(WEXITED | WNOWAIT))
    }

    /// Sends a request to the supervisor; throws unless it is carried out.
    func perform(_ request: ControlRequest) throws {
        guard try self.request(request) == [.done] else {
            throw SystemError(.receive, errorNumber: EPROTO, path: "\(request)")
        }
    }

    private func request(_ request: ControlRequest) throws -> [ControlAnswer.Content] {
        let path = "\(place.directory.path(of: "run"))/\(SupervisionProtocol.controlSocketName)"
        return try PacketSocket.connect(to: path).answer(to: request)
    }

    /// The status of the application.
    var status: ApplicationStatus? {
        get throws {
            try request(.list).lazy.compactMap { content -> ApplicationStatus? in
                guard case .applications(let applications) = content else { return nil }
                return applications.first { $0.identifier == Self.application }
            }.first
        }
    }

    /// The lines of `eidetic app why`.
    var why: [String] {
        get throws {
            try request(.explain(identifier: Self.application)).flatMap { content -> [String] in
                if case .lines(let lines) = content { lines } else { [] }
            }
        }
    }

    /// The records of the supervisor, for messages.
    var log: String { (try? request(.log(identifier: nil, count: 100)).map { "\($0)" }.joined()) ?? "" }

    /// Waits until the supervisor has recorded a state of the application.
    func waitForState(_ state: LifecycleState) async throws {
        while try status?.state != state { await changes.next() }
    }

    /// Ends the application, the supervisor and the transfer process.
    func finish() async {
        _ = try? request(.quit(identifier: Self.application, force: true))
        supervisor?.kill(SIGTERM)
        if let supervisor { waitForEnd(of: supervisor) }
        // Only now does nobody start another one, which would keep the output of the supervisor open.
        place.killService()
        for process in processes.withLock({ $0 }) { _ = await process.waitUntilExit() }
    }
}

/// The changes of the record of an application, which the supervisor replaces after each event.
private final class RecordChanges: Sendable {
    private let changes: AsyncStream<Void>

    init(of directory: String) throws {
        let number = inotify_init1(Int32(IN_CLOEXEC))
        guard number >= 0, inotify_add_watch(number, directory, UInt32(IN_MOVED_TO)) >= 0 else {
            throw SystemError(.open, errorNumber: errno, path: directory)
        }
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        changes = stream
        // Ends with the directory, whose removal ends the watch.
        Thread.start(name: "records") {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while case let count = read(number, &buffer, buffer.count), count > 0 {
                continuation.yield()
                if access(directory, F_OK) != 0 { break }
            }
            close(number)
        }
    }

    /// Waits for a change since the last call.
    func next() async {
        for await _ in changes { return }
    }
}
