import EideticCore
import EideticProbeWords
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle

/// A supervisor in a directory of its own, and its client.
final class SupervisorProcess {
    let directory: TemporaryDirectory
    let process: Subprocess

    /// Starts `eideticd` beside this program, and waits until it listens.
    init(messageRate: Int = 1_000_000) async throws {
        // In memory, as the runtime directories of systems are.
        let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : nil
        directory = try TemporaryDirectory(named: "eideticd", in: parent)
        process = try Subprocess(
            try MeasuredProcess.path(ofProgramBesideThis: "eideticd"),
            arguments: [
                "--runtime-directory", directory.path(of: "run"), "--state-directory", directory.path(of: "state"),
                "--limit", "idle=0", "--message-rate", "\(messageRate)",
            ]
        )
        guard await process.waitForOutput("ready") else {
            throw UsageError(message: "eideticd does not start: \(process.errorsSoFar)")
        }
    }

    /// A Boolean value indicating whether applications are frozen by control groups.
    var usesGroups: Bool { process.outputSoFar.contains("freezer cgroup2") }

    /// Ends all applications, and the supervisor.
    func finish() async throws {
        // One that was killed by the measurement has no list.
        let applications = (try? statuses()) ?? []
        for status in applications where status.process != nil {
            try perform(.quit(identifier: status.identifier, force: true))
            try waitUntilEnded(status.identifier)
        }
        process.kill(SIGTERM)
        _ = await process.waitUntilExit()
        // "eideticd: ready, freezer cgroup2 at DIRECTORY"
        let words = process.outputSoFar.split(separator: "\n").first?.split(separator: " ") ?? []
        if usesGroups, let group = words.last { rmdir(String(group)) }
    }

    // MARK: Requests

    /// Connects, so that the connection is not part of what is measured.
    func connect() throws -> PacketSocket {
        try PacketSocket.connect(to: directory.path(of: "run/\(SupervisionProtocol.controlSocketName)"))
    }

    /// Sends a request and waits for its answer.
    @discardableResult
    func request(_ request: ControlRequest, on socket: PacketSocket? = nil) throws -> [ControlAnswer.Content] {
        try (socket ?? connect()).answer(to: request)
    }

    func perform(_ request: ControlRequest, on socket: PacketSocket? = nil) throws {
        guard try self.request(request, on: socket) == [.done] else {
            throw UsageError(message: "the supervisor refuses \(request)")
        }
    }

    func statuses() throws -> [ApplicationStatus] {
        try request(.list).flatMap { content -> [ApplicationStatus] in
            if case .applications(let applications) = content { applications } else { [] }
        }
    }

    func waitForState(_ state: LifecycleState, of identifier: String) throws {
        for _ in 0..<10_000 {
            if try statuses().contains(where: { $0.identifier == identifier && $0.state == state }) { return }
            usleep(1_000)
        }
        throw UsageError(message: "\(identifier) does not become \(state)")
    }

    func waitUntilEnded(_ identifier: String) throws {
        for _ in 0..<10_000 {
            if try statuses().contains(where: { $0.identifier == identifier && $0.process == nil }) { return }
            usleep(1_000)
        }
        throw UsageError(message: "\(identifier) does not end")
    }

    // MARK: Applications

    /// Makes the probe the program of an application, and returns its words.
    func install(_ identifier: String, arguments: [String] = []) throws -> SharedWords {
        let path = directory.path(of: "\(identifier).words")
        let words = try SharedWords(path: path, count: ProbeWord.count)
        let executable = try MeasuredProcess.path(ofProgramBesideThis: "EideticApplicationProbe")
        var program = ProgramDescription(executable: executable)
        program.arguments = ["--words", path] + arguments
        program.environment = ["PATH=/usr/bin:/bin"]
        try perform(.install(identifier: identifier, program: program))
        return words
    }

    /// Launches an application and waits until it is active.
    func launch(_ identifier: String, arguments: [String] = []) throws -> SharedWords {
        let words = try install(identifier, arguments: arguments)
        try perform(.launch(identifier: identifier, url: nil, inBackground: false))
        try waitForState(.active, of: identifier)
        return words
    }

    /// Launches a program beside this one as an application.
    func launch(_ program: String, as identifier: String, arguments: [String]) throws {
        var description = ProgramDescription(executable: try MeasuredProcess.path(ofProgramBesideThis: program))
        description.arguments = arguments
        description.environment = ["PATH=/usr/bin:/bin"]
        try perform(.install(identifier: identifier, program: description))
        try perform(.launch(identifier: identifier, url: nil, inBackground: false))
    }

    func page(of identifier: String) throws -> SharedPageFile {
        try SharedPageFile.open(at: directory.path(of: "run/applications/\(identifier)/page.1"))
    }
}
