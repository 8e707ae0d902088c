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
    static let limits = ["--limit", "connection=100", "--limit", "idle=10"]

    /// Launches a program that does not know the supervisor, and suspends it.
    func suspend(
        _ words: [String],
        environment: [String],
        on daemon: Daemon,
        whenReady: () async throws -> Void = {}
    ) async throws {
        try await launch(words, environment: environment, on: daemon, as: "one")
        try await whenReady()
        try await daemon.suspend("one")
    }

    func launch(
        _ words: [String],
        environment: [String],
        on daemon: Daemon,
        as identifier: String
    ) async throws {
        let path = try #require(words[0].hasPrefix("/") ? words[0] : Subprocess.executablePath(for: words[0]))
        var program = ProgramDescription(executable: path)
        (program.arguments, program.environment) = (Array(words.dropFirst()), environment)
        try daemon.perform(.install(identifier: identifier, program: program))
        _ = try daemon.request(.launch(identifier: identifier, url: nil, inBackground: false))
        await daemon.expectState(.active, of: identifier)
    }

    /// Starts a bus; returns the variable with its address.
    func startBus() async throws -> (Subprocess, String) {
        let bus = try Subprocess("dbus-daemon", arguments: ["--session", "--nofork", "--print-address"])
        try await eventually("a bus") { bus.outputSoFar.hasSuffix("\n") }
        return (bus, "DBUS_SESSION_BUS_ADDRESS=" + bus.outputSoFar.split(separator: "\n")[0])
    }

    /// Starts a display; returns the variable with its name.
    private func startDisplay() async throws -> (Subprocess, String) {
        let server = try Subprocess("Xvfb", arguments: ["-displayfd", "1", "-nolisten", "tcp"])
        try await eventually("a display") { server.outputSoFar.hasSuffix("\n") }
        return (server, "DISPLAY=:" + server.outputSoFar.filter(\.isNumber))
    }

    func isInstalled(_ programs: String...) -> Bool {
        let missing = programs.filter { Subprocess.executablePath(for: $0) == nil }
        if !missing.isEmpty { print("skipped: not installed: \(missing.joined(separator: ", "))") }
        return missing.isEmpty
    }

    @Test("B05 what was copied in a suspended application can be pasted", arguments: ControlGroups.kinds)
    func clipboard(kind: FreezerKind) async throws {
        guard isInstalled("Xvfb", "xclip") else { return }
        let (server, display) = try await startDisplay()
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
            try await daemon.resume("one")
            try await daemon.suspend("one")
        }
        await daemon.expectLine(.explain(identifier: "one")) { $0.contains("for what others had sent: display") }
        await daemon.finish()
        server.kill()
        _ = await server.waitUntilExit()
    }

    @Test("B05 a method call to a suspended application is answered", arguments: ControlGroups.kinds)
    func methodCalls(kind: FreezerKind) async throws {
        guard isInstalled("dbus-daemon", "dbus-send", "gdbus") else { return }
        let (bus, address) = try await startBus()
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

    /// A service whose answer takes longer than several short thaws.
    private static let slowService = """
        import sys, time
        from gi.repository import Gio, GLib
        node = Gio.DBusNodeInfo.new_for_xml(
            "<node><interface name='org.example.Slow'><method name='Work'/></interface></node>")
        def call(bus, sender, path, interface, method, arguments, invocation):
            start = time.process_time()
            while time.process_time() - start < 0.09: pass
            invocation.return_value(None)
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        bus.register_object("/org/example/Slow", node.interfaces[0], call, None, None)
        Gio.bus_own_name_on_connection(bus, "org.example.Slow", 0, None, None)
        GLib.MainLoop().run()
        """

    @Test("B05 a call whose answer takes longer than a short thaw is answered", arguments: ControlGroups.kinds)
    func slowAnswer(kind: FreezerKind) async throws {
        guard isInstalled("dbus-daemon", "gdbus"), try await hasPython() else { return }
        let (bus, address) = try await startBus()
        let daemon = try await Daemon(kind, Self.limits)
        let script = try daemon.directory.write(Array(Self.slowService.utf8), to: "slow.py")
        let words = ["/usr/bin/python3", script], variables = ["PATH=/usr/bin:/bin", address]
        try await suspend(words, environment: variables, on: daemon) {
            let wait = ["gdbus", "wait", "--session", "--timeout", "30", "org.example.Slow"]
            let result = try await Subprocess.run("env", arguments: [address] + wait)
            #expect(result.status == .exited(0), "\(result.errorText)")
        }
        let call = [
            "gdbus", "call", "--session", "--timeout", "60", "--dest", "org.example.Slow", "--object-path",
            "/org/example/Slow", "--method", "org.example.Slow.Work",
        ]
        let reply = try await Subprocess.run("env", arguments: [address] + call)
        #expect(reply.status == .exited(0), "\(reply.errorText)")
        await daemon.expectState(.suspended, of: "one")
        await daemon.finish()
        bus.kill()
        _ = await bus.waitUntilExit()
    }

    /// Returns whether programs in Python can use GLib and GTK.
    func hasPython() async throws -> Bool {
        let isThere = try await Subprocess.run("/usr/bin/python3", arguments: ["-c", "import gi"]).status == .exited(0)
        if !isThere { print("skipped: not installed: python3-gi") }
        return isThere
    }

    /// A GTK program with one instance, which writes a line for each activation.
    private static let single = """
        import gi, sys
        gi.require_version("Gtk", "4.0")
        from gi.repository import Gtk
        application = Gtk.Application(application_id="org.example.Single")
        def activate(application):
            window = application.get_active_window() or Gtk.ApplicationWindow(application=application)
            window.present()
            with open(sys.argv[1], "a") as file: file.write("activated\\n")
        application.connect("activate", activate)
        sys.exit(application.run([]))
        """

    @Test("B05 the second start of a suspended program brings the first one to the foreground", arguments: kinds)
    func secondStart(kind: FreezerKind) async throws {
        guard isInstalled("dbus-daemon", "Xvfb"), try await hasPython() else { return }
        let (bus, address) = try await startBus()
        let (server, display) = try await startDisplay()
        let daemon = try await Daemon(kind, Self.limits)
        let (script, output) = (daemon.directory.path(of: "single.py"), daemon.directory.path(of: "output"))
        try daemon.directory.write(Array(Self.single.utf8), to: "single.py")
        let words = ["/usr/bin/python3", script, output]
        let variables = ["PATH=/usr/bin:/bin", "GTK_A11Y=none", "GSK_RENDERER=cairo", address, display]
        func expectActivations(_ count: Int) async throws {
            try await eventually("activations", is: count) {
                (KernelFile.read(output) ?? "").split(separator: "\n").count
            }
        }
        try await suspend(words, environment: variables, on: daemon) { try await expectActivations(1) }
        for count in 2...4 {
            let second = try await Subprocess.run("env", arguments: variables + words)
            #expect(second.status == .exited(0), "\(second.errorText)")
            await daemon.expectState(.active, of: "one")
            try await expectActivations(count)
            try await daemon.suspend("one")
        }
        await daemon.expectLine(.log(identifier: "one", count: 20)) { $0.contains("org.gtk.Application.Activate") }
        await daemon.finish()
        for process in [bus, server] {
            process.kill()
            _ = await process.waitUntilExit()
        }
    }
}
