import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

/// Test 4 of the specification: n beginnings hold off suspension until n ends, in any order and on any thread.
@Suite("Nested background tasks under the supervisor", .serialized, .timeLimit(.minutes(3)))
struct NestedTaskTests {
    /// An application that opens and ends tasks as the test writes, each on another thread.
    private struct Commands {
        let daemon: Daemon
        let path: String

        init(in daemon: Daemon) throws {
            (self.daemon, path) = (daemon, daemon.directory.path(of: "commands"))
            guard mkfifo(path, 0o600) == 0 else { throw SystemError(.open, errorNumber: errno, path: path) }
        }

        func write(_ line: String) throws {
            let file = try FileSystem().open(path, flags: O_WRONLY)
            _ = "\(line)\n".withCString { Glibc.write(file.rawValue, $0, strlen($0)) }
        }

        func begin(_ index: Int) async throws {
            try write("begin")
            await daemon.expectOutput("begun \(index) valid\n")
        }

        func end(_ index: Int, times: Int = 1) async throws {
            try write("end \(index)")
            await daemon.expectOutput("ended \(index)\n", times: times)
        }

        /// Ends the last task; the application may be suspended before it has written its line.
        func endLast(_ index: Int) throws { try write("end \(index)") }

        /// Expects the application to run in the background with open tasks, as the supervisor sees it.
        func expectRunning(_ count: Int) throws {
            let status = try #require(try daemon.status(of: "app"))
            #expect(status.state == .background && status.openTasks == count && status.suspensionCount == 0)
        }
    }

    @Test("B05 suspended after as many ends as beginnings, in any order, on any thread", arguments: [1, 2, 17])
    func nested(count: Int) async throws {
        for kind in ControlGroups.kinds {
            let daemon = try await Daemon(kind, ["--limit", "idle=0"])
            let commands = try Commands(in: daemon)
            _ = try daemon.launchApplication("app", ["--commands", commands.path])
            await daemon.expectOutput("reads commands")
            await daemon.expectState(.active, of: "app")
            for index in 0..<count { try await commands.begin(index) }
            try daemon.perform(.background(identifier: "app"))
            await daemon.expectState(.background, of: "app")
            let order = (0..<count).shuffled()
            for (ended, index) in order.dropLast().enumerated() {
                try commands.expectRunning(count - ended)
                try await commands.end(index)
            }
            try commands.expectRunning(1)
            try commands.endLast(order[count - 1])
            await daemon.expectState(.suspended, of: "app")
            #expect(try daemon.status(of: "app")?.suspensionCount == 1)
            await daemon.finish()
        }
    }

    @Test("B05 a second end of a task ends no other one", arguments: ControlGroups.kinds)
    func secondEnd(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, ["--limit", "idle=0"])
        let commands = try Commands(in: daemon)
        _ = try daemon.launchApplication("app", ["--commands", commands.path])
        await daemon.expectOutput("reads commands")
        await daemon.expectState(.active, of: "app")
        for index in 0..<2 { try await commands.begin(index) }
        try daemon.perform(.background(identifier: "app"))
        await daemon.expectState(.background, of: "app")
        for times in 1...3 {
            try await commands.end(0, times: times)
            try commands.expectRunning(1)
        }
        // A task may begin in the background as long as another one is open.
        try await commands.begin(2)
        try await commands.end(1)
        try commands.expectRunning(1)
        try await commands.end(0, times: 4)
        try commands.expectRunning(1)
        try commands.endLast(2)
        await daemon.expectState(.suspended, of: "app")
        #expect(try daemon.status(of: "app")?.suspensionCount == 1)
        await daemon.finish()
    }
}
