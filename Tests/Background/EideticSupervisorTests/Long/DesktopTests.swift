import EideticCore
import EideticLifecycle
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import Testing

/// A compositor without a screen, a session bus with its screen readers' bus, and the programs that use them.
private final class Desktop: Sendable {
    private let directory: TemporaryDirectory
    private let compositor: Subprocess
    private let bus: Subprocess
    /// The variables of programs on this desktop.
    let variables: [String]
    private let commandSocket: String

    static let programs = ["sway", "swaymsg", "wl-copy", "wl-paste", "dbus-daemon", "gdbus", "busctl", "jq"]

    init() async throws {
        directory = try TemporaryDirectory(named: "desktop")
        let configuration = "xwayland disable\noutput HEADLESS-1 resolution 1280x720\n"
        try directory.write(Array(configuration.utf8), to: "compositor/sway")
        let place = directory.path(of: "compositor"), own = directory.path(of: "own")
        try FileSystem().makeDirectory(own, mode: 0o700)
        var words = [
            "env", "XDG_RUNTIME_DIR=\(place)", "WLR_BACKENDS=headless", "WLR_RENDERER=pixman",
            "WLR_LIBINPUT_NO_DEVICES=1", "sway", "-c", "\(place)/sway",
        ]
        // Sway does not run as root.
        if geteuid() == 0 {
            words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + words
            #expect(chmod(directory.path, 0o711) == 0 && chown(place, 65_534, 65_534) == 0)
        }
        #expect(chmod(place, 0o700) == 0)
        compositor = try Subprocess(words[0], arguments: Array(words.dropFirst()))
        func socket(_ prefix: String) -> String? {
            KernelFile.names(in: place).first { $0.hasPrefix(prefix) && !$0.hasSuffix("lock") }.map { "\(place)/\($0)" }
        }
        try await eventually("a compositor") { socket("wayland-") != nil && socket("sway-ipc") != nil }
        commandSocket = socket("sway-ipc") ?? ""
        let options = ["--session", "--nofork", "--print-address"]
        bus = try Subprocess("dbus-daemon", arguments: options, environment: ["XDG_RUNTIME_DIR": own])
        try await eventually("a bus") { [bus] in bus.outputSoFar.hasSuffix("\n") }
        variables = [
            "PATH=/usr/bin:/bin", "XDG_RUNTIME_DIR=\(own)", "WAYLAND_DISPLAY=\(socket("wayland-") ?? "")",
            "DBUS_SESSION_BUS_ADDRESS=\(bus.outputSoFar.split(separator: "\n")[0])", "GDK_BACKEND=wayland",
            "GSK_RENDERER=cairo", "HOME=\(own)",
        ]
    }

    /// Runs a program on the desktop; returns its output.
    func run(_ words: String...) async throws -> String {
        let result = try await Subprocess.run("env", arguments: variables + words)
        #expect(result.status == .exited(0), "\(words): \(result.errorText)")
        return result.outputText
    }

    /// Tells the compositor to do something; returns its answer.
    func command(_ words: String...) async throws -> String {
        try await run("swaymsg", "-s", commandSocket, words[0], words[1])
    }

    /// The processes that have a window.
    var windows: Set<Int32> {
        get async throws {
            let tree = try await Subprocess.run(
                "jq",
                arguments: ["-r", ".. | .pid? | numbers"],
                input: Array(try await command("-t", "get_tree").utf8)
            )
            return Set(tree.outputText.split(separator: "\n").compactMap { Int32($0) })
        }
    }

    /// The names of the windows' buttons, as a screen reader finds them.
    var buttons: [String] {
        get async throws {
            let reply = try await run(
                "busctl",
                "--user",
                "call",
                "org.a11y.Bus",
                "/org/a11y/bus",
                "org.a11y.Bus",
                "GetAddress"
            )
            let address = Self.quoted(reply).first ?? "", root = "/org/a11y/atspi/accessible/root"
            func ask(_ words: String...) async throws -> String {
                try await run("busctl", "--address=\(address)", words[0], words[1], words[2], words[3], words[4])
            }
            let accessible = "org.a11y.atspi.Accessible"
            let children = try await ask("call", "org.a11y.atspi.Registry", root, accessible, "GetChildren")
            var unseen = Self.pairs(Self.quoted(children)), names: Set<String> = []
            while let (program, path) = unseen.popLast() {
                unseen += Self.pairs(Self.quoted(try await ask("call", program, path, accessible, "GetChildren")))
                let name = try await ask("get-property", program, path, accessible, "Name")
                names.formUnion(Self.quoted(name).filter { $0.hasPrefix("Button of ") })
            }
            return names.sorted()
        }
    }

    private static func quoted(_ reply: String) -> [String] {
        reply.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    private static func pairs(_ words: [String]) -> [(program: String, path: String)] {
        stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) }
    }

    func end() async {
        for process in [bus, compositor] {
            process.kill(SIGTERM)
            _ = await process.waitUntilExit()
        }
    }
}

@Suite("Suspended applications of a desktop that is used", .serialized, .timeLimit(.minutes(60)))
struct DesktopTests {
    private static let names = (0..<Torture.repetitions(2, full: 10)).map { "App\($0)" }
    /// The least time of suspension; short runs end after one round.
    private static let time = Duration.seconds(Torture.repetitions(0, full: 600))
    private static let program = """
        import gi, sys
        gi.require_version("Gtk", "4.0")
        from gi.repository import Gtk
        name = sys.argv[1]
        application = Gtk.Application(application_id="org.example." + name)
        def activate(application):
            window = application.get_active_window()
            if not window:
                window = Gtk.ApplicationWindow(application=application)
                window.set_child(Gtk.Button(label="Button of " + name))
            window.present()
            with open(sys.argv[2], "a") as file: file.write("activated\\n")
        application.connect("activate", activate)
        sys.exit(application.run([]))
        """

    @Test(
        "B01 B05 ten programs with windows come back, whatever others did to outputs, clipboard, bus and screen reader",
        arguments: ControlGroups.kinds
    )
    func comeBack(kind: FreezerKind) async throws {
        let helper = CallerTests()
        guard Desktop.programs.allSatisfy({ helper.isInstalled($0) }), try await helper.hasPython() else { return }
        let desktop = try await Desktop(), daemon = try await Daemon(kind, CallerTests.limits)
        let script = try daemon.directory.write(Array(Self.program.utf8), to: "program.py")
        func activations(of name: String) -> Int {
            (KernelFile.read(daemon.directory.path(of: name)) ?? "").split(separator: "\n").count
        }
        for name in Self.names {
            let words = ["/usr/bin/python3", script, name, daemon.directory.path(of: name)]
            try await helper.launch(words, environment: desktop.variables, on: daemon, as: name)
        }
        let copy = ["wl-copy", "--foreground", "photograph"]
        try await helper.launch(copy, environment: desktop.variables, on: daemon, as: "Clipboard")
        for name in Self.names { try await eventually("\(name) is shown", is: 1) { activations(of: name) } }
        try await eventually("what a screen reader finds", is: Self.names.map { "Button of \($0)" }) {
            try await desktop.buttons
        }
        try await eventually("the text is offered") {
            try await Subprocess.run("env", arguments: desktop.variables + ["wl-paste", "-n"]).outputText
                == "photograph"
        }
        for name in Self.names + ["Clipboard"] { try await daemon.suspend(name) }
        let processes = try Dictionary(uniqueKeysWithValues: daemon.list().map { ($0.identifier, $0.process) })
        let end = SystemTime().uptime + Self.time
        var rounds = 0
        repeat {
            try await use(desktop, daemon, round: rounds)
            rounds += 1
            // A test without output counts as one that hangs.
            print("round \(rounds)")
        } while SystemTime().uptime < end
        print("suspended for \(SystemTime().uptime - end + Self.time), \(rounds) rounds")
        for name in Self.names {
            try await daemon.resume(name)
            _ = try await desktop.run(
                "gdbus",
                "call",
                "--session",
                "--dest",
                "org.example.\(name)",
                "--object-path",
                "/org/example/\(name)",
                "--method",
                "org.gtk.Application.Activate",
                "[]"
            )
            try await eventually("\(name) is shown again", is: 2) { activations(of: name) }
        }
        #expect(try Dictionary(uniqueKeysWithValues: daemon.list().map { ($0.identifier, $0.process) }) == processes)
        #expect(try await desktop.windows.isSuperset(of: Self.names.compactMap { processes[$0] ?? nil }))
        await daemon.finish()
        await desktop.end()
    }

    /// Does what a user and the programs in the foreground do, beside applications that are suspended.
    private func use(_ desktop: Desktop, _ daemon: Daemon, round: Int) async throws {
        for scale in ["1", "2", "1.5", "1.25"] { _ = try await desktop.command("output HEADLESS-1 scale", scale) }
        #expect(try await desktop.run("wl-paste", "-n") == "photograph")
        for name in Self.names {
            let actions = try await desktop.run(
                "gdbus",
                "call",
                "--session",
                "--timeout",
                "20",
                "--dest",
                "org.example.\(name)",
                "--object-path",
                "/org/example/\(name)",
                "--method",
                "org.gtk.Actions.List"
            )
            let reasons = try daemon.lines(.explain(identifier: name)) + daemon.lines(.log(identifier: name, count: 9))
            #expect(actions.contains("["), "\(name): \(actions)\n\(reasons.joined(separator: "\n"))")
        }
        let buttons = try await desktop.buttons
        #expect(buttons == Self.names.map { "Button of \($0)" }, "\(buttons)")
        for name in Self.names + ["Clipboard"] { await daemon.expectState(.suspended, of: name) }
    }
}
