import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import Testing

@Suite("Processes of applications", .timeLimit(.minutes(1)))
struct ProcessTests {
    private func start(_ script: String) throws -> ProcessHandle {
        var launch = ProgramDescription(executable: "/bin/sh")
        launch.arguments = ["-c", script]
        return try ProgramLaunch(launch).start(at: .init())
    }

    private func end(of handle: ProcessHandle) async -> ProcessEnd? {
        await handle.waitForEnd()
        return handle.takeEnd()
    }

    @Test("B01 the end of a process is collected with its status")
    func ends() async throws {
        #expect(await end(of: try start("exit 7")) == .exited(7))
        #expect(await end(of: try start("kill -9 $$")) == .signalled(SIGKILL))
        let running = try start("exec sleep 100")
        #expect(running.takeEnd() == nil)
        running.signal(SIGKILL)
        #expect(await end(of: running) == .signalled(SIGKILL))
    }

    @Test("B01 a program that does not exist is an error with its path")
    func missingProgram() {
        #expect(throws: SystemError(.open, errorNumber: ENOENT, path: "/nonexistent")) {
            _ = try ProgramLaunch(ProgramDescription(executable: "/nonexistent")).start(at: .init())
        }
    }

    @Test("B05 a process that its supervisor had not recorded when it was killed does not start the program")
    func neverPermitted() async throws {
        let directory = try TemporaryDirectory(named: "launch")
        var launch = ProgramDescription(executable: "/bin/sh")
        launch.arguments = ["-c", "touch \(directory.path(of: "started"))"]
        let handle = try {
            // The report closes as that of a supervisor that ends.
            try ProgramLaunch(launch).begin(at: .init()).process
        }()
        #expect(await end(of: handle) == .exited(127))
        #expect(access(directory.path(of: "started"), F_OK) != 0)
    }

    @Test("a process is found by number and start, and no other process by that number")
    func identity() async throws {
        let handle = try start("exec sleep 100")
        let same = try #require(ProcessHandle(identifier: handle.identifier, startTime: handle.startTime))
        #expect(ProcessHandle(identifier: handle.identifier, startTime: handle.startTime + 1) == nil)
        #expect(same.signal(SIGKILL))
        #expect(await end(of: handle) == .signalled(SIGKILL))
        #expect(ProcessHandle(identifier: handle.identifier, startTime: handle.startTime) == nil)
        #expect(!same.signal(0))
    }

    @Test("a process may have any name", arguments: ["a b", "a) (b", "\u{301}", "a)\u{301}"])
    func names(name: String) {
        let status = ProcessStatus(line: "7 (\(name)) S 1 7 7 0 -1 4194560 1 0 0 0 2 3 0 0 20 0 1 0 900 1 1 1\n")
        #expect(status?.state == "S" && status?.parent == 1 && status?.group == 7)
    }

    @Test("the status of a process is known to a supervisor that did not start it")
    func foreignStatus() async throws {
        let handle = try start("exec sleep 100")
        let other = try #require(ProcessHandle(identifier: handle.identifier))
        #expect(other.signal(SIGKILL))
        #expect(await end(of: handle) == .signalled(SIGKILL))
        // Collected by its parent; the kernel keeps the status for the descriptor since Linux 6.15.
        #expect([.signalled(SIGKILL), .unknown].contains(other.takeEnd()))
    }

    @Test("the line of a program whose name has spaces and parentheses is parsed")
    func statusLine() {
        let tail = (4...24).map(String.init).joined(separator: " ")
        let status = ProcessStatus(line: "12 (a) b (c) S 1 \(tail)")
        #expect(status?.identifier == 12 && status?.parent == 1 && status?.state == "S")
        for line in ["", "12", "12 (a", ") 12 (", "x (a) S 1 \(tail)"] { #expect(ProcessStatus(line: line) == nil) }
    }

    @Test("a program starts with the inherited socket, no other descriptor, and its own session")
    func descriptors() async throws {
        var pair: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &pair) == 0)
        defer { close(pair[0]) }
        var places = ProgramLaunch.Places()
        places.socket = pair[1]
        var launch = ProgramDescription(executable: "/bin/sh")
        launch.arguments = ["-c", "ls /proc/self/fd | tr '\\n' ' ' >&3; cut -d ' ' -f 6 /proc/$$/stat >&3"]
        launch.environment = ["PATH=/usr/bin:/bin"]
        let handle = try ProgramLaunch(launch).start(at: places)
        close(pair[1])
        #expect(await end(of: handle) == .exited(0))
        // The fourth is that of `ls` itself.
        #expect(receive(pair[0]) == "0 1 2 3 4 ")
        #expect(receive(pair[0]).contains("\(handle.identifier)"))
    }

    private func receive(_ socket: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = max(0, recv(socket, &buffer, buffer.count, 0))
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}
