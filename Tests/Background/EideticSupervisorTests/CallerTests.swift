import EideticCore
import EideticLifecycle
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import Testing

/// Suspended programs, and others that talk to them.
@Suite("Suspended applications and their callers", .serialized, .timeLimit(.minutes(3)))
struct CallerTests {
    private static let limits = ["--limit", "connection=100", "--limit", "idle=10"]

    /// Launches a program that does not know the supervisor, and suspends it.
    private func suspend(
        _ words: [String],
        environment: [String],
        on daemon: Daemon,
        whenReady: () async throws -> Void = {}
    ) async throws {
        let path = try #require(words[0].hasPrefix("/") ? words[0] : Subprocess.executablePath(for: words[0]))
        var program = ProgramDescription(executable: path)
        (program.arguments, program.environment) = (Array(words.dropFirst()), environment)
        try daemon.perform(.install(identifier: "one", program: program))
        _ = try daemon.request(.launch(identifier: "one", url: nil, inBackground: false))
        await daemon.expectState(.active, of: "one")
        try await whenReady()
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectState(.suspended, of: "one")
    }

    private func isInstalled(_ programs: String...) -> Bool {
        let missing = programs.filter { Subprocess.executablePath(for: $0) == nil }
        if !missing.isEmpty { print("skipped: not installed: \(missing.joined(separator: ", "))") }
        return missing.isEmpty
    }

    @Test("B05 what was copied in a suspended application can be pasted", arguments: ControlGroups.kinds)
    func clipboard(kind: FreezerKind) async throws {
        guard isInstalled("Xvfb", "xclip") else { return }
        let server = try Subprocess("Xvfb", arguments: ["-displayfd", "1", "-nolisten", "tcp"])
        try await eventually("a display") { server.outputSoFar.hasSuffix("\n") }
        let display = "DISPLAY=:" + server.outputSoFar.filter(\.isNumber)
        let daemon = try await Daemon(kind, Self.limits)
        let text = try daemon.directory.write(Array("photograph".utf8), to: "text")
        try await suspend(["xclip", "-quiet", "-i", text], environment: ["PATH=/usr/bin:/bin", display], on: daemon) {
            try await eventually("the text is offered") {
                try await Subprocess.run("env", arguments: [display, "xclip", "-o"]).outputText == "photograph"
            }
        }
        for _ in 0..<2 {
            for _ in 0..<2 {
                let pasted = try await Subprocess.run("env", arguments: [display, "xclip", "-o"])
                #expect(pasted.status == .exited(0) && pasted.outputText == "photograph", "\(pasted.errorText)")
            }
            #expect(try daemon.status(of: "one")?.state == .suspended)
            // The second suspension watches the same connections anew.
            try daemon.perform(.foreground(identifier: "one"))
            await daemon.expectState(.active, of: "one")
            try daemon.perform(.background(identifier: "one"))
            await daemon.expectState(.suspended, of: "one")
        }
        await daemon.expectLine(.explain(identifier: "one")) { $0.contains("for what others had sent: display") }
        await daemon.finish()
        server.kill()
        _ = await server.waitUntilExit()
    }

    @Test("B05 a method call to a suspended application is answered", arguments: ControlGroups.kinds)
    func methodCalls(kind: FreezerKind) async throws {
        guard isInstalled("dbus-daemon", "dbus-send", "gdbus") else { return }
        let bus = try Subprocess("dbus-daemon", arguments: ["--session", "--nofork", "--print-address"])
        try await eventually("a bus") { bus.outputSoFar.hasSuffix("\n") }
        let address = "DBUS_SESSION_BUS_ADDRESS=" + bus.outputSoFar.split(separator: "\n")[0]
        let daemon = try await Daemon(kind, Self.limits)
        let fifo = daemon.directory.path(of: "commands")
        #expect(mkfifo(fifo, 0o600) == 0)
        let (variables, name) = (["PATH=/usr/bin:/bin", address], "org.freedesktop.Notifications")
        let server = [Daemon.probe, "wake", "notification-server", String(address.dropFirst(25)), fifo]
        try await suspend(server, environment: variables, on: daemon) {
            let wait = ["gdbus", "wait", "--session", "--timeout", "30", name]
            let result = try await Subprocess.run("env", arguments: [address] + wait)
            #expect(result.status == .exited(0), "\(result.errorText)")
        }
        let call = [
            "--session", "--print-reply", "--reply-timeout=20000", "--dest=\(name)", "/org/freedesktop/Notifications",
            "\(name).CloseNotification", "uint32:7",
        ]
        let reply = try await Subprocess.run("env", arguments: [address, "dbus-send"] + call)
        #expect(reply.status == .exited(0), "\(reply.errorText)")
        #expect(try daemon.status(of: "one")?.state == .suspended)
        await daemon.expectLine(.explain(identifier: "one")) { $0.contains("for what others had sent: bus") }
        await daemon.finish()
        bus.kill()
        _ = await bus.waitUntilExit()
    }
}
