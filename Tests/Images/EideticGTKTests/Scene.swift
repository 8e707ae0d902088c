#if GTK
import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// The scenes of the probe, each of which runs in a display server with a window manager of its own.
enum Scene {
    static var canPlay: Bool {
        ["Xvfb", "openbox", "import", "nginx"].allSatisfy { Subprocess.executablePath(for: $0) != nil }
    }

    /// A Boolean value indicating whether libshumate is installed.
    static var hasShumate: Bool { dlopen("libshumate-1.0.so.1", RTLD_NOW) != nil }

    /// Plays a scene to its end, and returns its output; each expectation that failed is an issue of the test.
    @discardableResult
    static func play(
        _ name: String,
        environment: [String: String?] = [:],
        location: SourceLocation = #_sourceLocation
    ) async throws -> [String] {
        let screen = try await Screen()
        let probe = try Subprocess(
            executablePath(of: "EideticGTKProbe"),
            arguments: [name],
            environment: screen.environment(changes: environment)
        )
        let result = await withTaskCancellationHandler {
            await probe.waitUntilExit()
        } onCancel: {
            probe.kill()
        }
        let lines = result.outputText.split(separator: "\n").map(String.init)
        report(lines, of: name, result: result, location: location)
        return lines
    }

    /// Records an issue for each expectation of a scene that failed, and one for an end that none of them explains.
    private static func report(
        _ lines: [String],
        of scene: String,
        result: Subprocess.Result,
        location: SourceLocation
    ) {
        let failures = lines.filter { $0.hasPrefix("FAILED ") }
        for failure in failures {
            Issue.record("scene \(scene): \(failure.dropFirst(7))", sourceLocation: location)
        }
        guard result.status != .exited(0), failures.isEmpty || result.status != .exited(1) else { return }
        Issue.record(
            """
            scene \(scene) ended with \(result.status), expected was \(ExitStatus.exited(0))
            the end of its output: \(result.outputText.suffix(500))
            the end of its errors: \(result.errorText.suffix(2_000))
            """,
            sourceLocation: location
        )
    }

    /// Returns the path of an executable beside this test bundle.
    static func executablePath(of name: String) -> String { BuiltProgram.path(of: name) }
}

/// A headless display server with a window manager.
final class Screen: Sendable {
    let name: String
    private let server: Subprocess
    private let manager: Subprocess
    private let home: TemporaryDirectory

    /// Starts both; a display with a touch screen has 1280 by 1024 pixels.
    init(size: String = "1280x900x24", hasTouch: Bool = false) async throws {
        home = try TemporaryDirectory(named: "screen")
        if hasTouch {
            try home.write(Array(TouchScreen.configuration(socket: home.path(of: "finger")).utf8), to: "xorg.conf")
        }
        let command =
            hasTouch
            ? TouchScreen.command(configuration: home.path(of: "xorg.conf"), log: home.path(of: "xorg.log"))
            : ["Xvfb", "-screen", "0", size]
        var processes: Processes?
        // A display number that another server is just releasing may not respond; the next one does.
        for _ in 0..<10 where processes == nil { processes = try await Self.start(command: command, home: home.path) }
        let startedProcesses = try #require(processes, "no display server, or no window manager")
        name = startedProcesses.name
        server = startedProcesses.server
        manager = startedProcesses.manager
    }

    private struct Processes {
        let name: String
        let server: Subprocess
        let manager: Subprocess
    }

    private static func start(command: [String], home: String) async throws -> Processes? {
        let arguments = command.dropFirst() + ["-displayfd", "1", "-nolisten", "tcp", "-dpi", "96"]
        let server = try Subprocess(command[0], arguments: Array(arguments))
        // The server writes its number when clients can connect; its errors name those that other servers have.
        try await eventually("a display") { server.outputSoFar.hasSuffix("\n") }
        let name = ":" + server.outputSoFar.filter(\.isNumber)
        let manager = try Subprocess(
            "openbox",
            arguments: ["--startup", "echo started"],
            environment: ["DISPLAY": name, "HOME": home, "XDG_RUNTIME_DIR": home]
        )
        return await manager.waitForOutput("started") ? Processes(name: name, server: server, manager: manager) : nil
    }

    /// Starts a session bus, which a screen reader needs.
    func startBus() async throws -> Subprocess {
        let arguments = ["--session", "--nofork", "--print-address", "--address=\(busAddress)"]
        let bus = try Subprocess(
            "dbus-daemon",
            arguments: arguments,
            environment: environment(changes: ["DBUS_SESSION_BUS_ADDRESS": nil])
        )
        #expect(await bus.waitForOutput("unix:"), "no bus: \(bus.errorsSoFar)")
        return bus
    }

    /// Returns a screenshot of a window, which must be mapped.
    func capture(_ window: String) async throws -> PixelBuffer {
        // The values as they are on the screen: without chunks that state their colours.
        let words = ["-window", window, "-strip", "png:-"]
        // A window that is being mapped, or moved, has none for a moment.
        let bytes = try await eventually("a screenshot of \(window)") {
            try await Subprocess.run("import", arguments: words, environment: environment()).output
        } until: {
            !$0.isEmpty
        }
        return try ImageDecoder.decode(bytes).pixels
    }

    /// Returns a finger on the touch screen.
    func finger() throws -> Finger { try Finger(socketPath: home.path(of: "finger")) }

    /// The directory of the sockets of its programs.
    var runtimeDirectory: String { home.path }

    var busAddress: String { "unix:path=\(home.path(of: "bus"))" }

    /// Returns the environment of a GTK program, without anything of this machine's desktop.
    func environment(changes: [String: String?] = [:]) -> [String: String?] {
        let defaults: [String: String?] = [
            "DISPLAY": name, "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none", "HOME": home.path,
            "XDG_RUNTIME_DIR": home.path, "XDG_CONFIG_HOME": home.path, "XDG_CACHE_HOME": home.path(of: "cache"),
            "GSETTINGS_BACKEND": "memory", "GIO_USE_VFS": "local", "DBUS_SESSION_BUS_ADDRESS": "disabled:",
            "GTK_THEME": "Adwaita", "WAYLAND_DISPLAY": nil,
        ]
        return defaults.merging(changes) { $1 }
    }
}

extension Trait where Self == ConditionTrait {
    static var needsScene: Self { .enabled(if: Scene.canPlay, "needs Xvfb, openbox, imagemagick, nginx") }

    static var needsGallery: Self { .enabled(if: RunningGallery.canRun, "needs the programs of Scene, and D-Bus") }
}
#endif
