#if GTK
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// Plays scenes of the probe, each in a display server with a window manager of its own.
enum Scene {
    static var canPlay: Bool {
        ["Xvfb", "openbox", "import", "nginx"].allSatisfy { Subprocess.executablePath(for: $0) != nil }
    }

    /// Whether the library of maps is there.
    static var hasShumate: Bool { dlopen("libshumate-1.0.so.1", RTLD_NOW) != nil }

    /// Plays a scene to its end; what it missed is an issue of the test.
    @discardableResult
    static func play(
        _ name: String,
        environment: [String: String?] = [:],
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> [String] {
        let screen = try await Screen()
        let probe = try Subprocess(
            program("EideticGTKProbe"),
            arguments: [name],
            environment: screen.environment(environment)
        )
        let result = await withTaskCancellationHandler {
            await probe.waitUntilExit()
        } onCancel: {
            probe.kill()
        }
        let report = "\(result.outputText)\(result.errorText)"
        #expect(result.status == .exited(0), "\(report)", sourceLocation: location)
        return result.outputText.split(separator: "\n").map(String.init)
    }

    /// An executable beside this test bundle.
    static func program(_ name: String) -> String {
        let program = realpath(CommandLine.arguments[0], nil).map { String(cString: $0) } ?? CommandLine.arguments[0]
        let directory = program.lastIndex(of: "/").map { String(program[..<$0]) } ?? "."
        return "\(directory)/\(name)"
    }
}

/// A display server without a screen, and a window manager in it.
final class Screen: Sendable {
    let name: String
    private let server: Subprocess
    private let manager: Subprocess
    private let home: TemporaryDirectory

    /// Starts both; one with a touch screen is 1280 by 1024 pixels large.
    init(_ size: String = "1280x900x24", hasTouch: Bool = false) async throws {
        home = try TemporaryDirectory(named: "screen")
        if hasTouch { try home.write(Array(TouchScreen.configuration(home.path(of: "finger")).utf8), to: "xorg.conf") }
        let command =
            hasTouch
            ? TouchScreen.command(home.path(of: "xorg.conf"), log: home.path(of: "xorg.log"))
            : ["Xvfb", "-screen", "0", size]
        var started: Parts?
        // A number that another server is just giving up may not answer: the next one does.
        for _ in 0..<10 where started == nil { started = try await Self.start(command, home.path) }
        let parts = try #require(started, "no display server, or no window manager")
        name = parts.name
        server = parts.server
        manager = parts.manager
    }

    private struct Parts {
        let name: String
        let server: Subprocess
        let manager: Subprocess
    }

    private static func start(_ command: [String], _ home: String) async throws -> Parts? {
        let arguments = command.dropFirst() + ["-displayfd", "1", "-nolisten", "tcp", "-dpi", "96"]
        let server = try Subprocess(command[0], arguments: Array(arguments))
        // It writes its number when clients can connect.
        guard await server.waitForOutput("\n") else { return nil }
        let name = ":" + server.outputSoFar.filter(\.isNumber)
        let manager = try Subprocess(
            "openbox",
            arguments: ["--startup", "echo started"],
            environment: ["DISPLAY": name, "HOME": home, "XDG_RUNTIME_DIR": home]
        )
        return await manager.waitForOutput("started") ? Parts(name: name, server: server, manager: manager) : nil
    }

    /// What a screen reader needs besides: a bus of its own, as that of a session.
    func startBus() async throws -> Subprocess {
        let arguments = ["--session", "--nofork", "--print-address", "--address=\(busAddress)"]
        let bus = try Subprocess(
            "dbus-daemon",
            arguments: arguments,
            environment: environment(["DBUS_SESSION_BUS_ADDRESS": nil])
        )
        #expect(await bus.waitForOutput("unix:"), "no bus: \(bus.errorsSoFar)")
        return bus
    }

    /// A finger on the touch screen.
    func finger() throws -> Finger { try Finger(home.path(of: "finger")) }

    var busAddress: String { "unix:path=\(home.path(of: "bus"))" }

    /// What a GTK program needs, and nothing of this machine's desktop.
    func environment(_ changes: [String: String?] = [:]) -> [String: String?] {
        let own: [String: String?] = [
            "DISPLAY": name, "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none", "HOME": home.path,
            "XDG_RUNTIME_DIR": home.path, "XDG_CONFIG_HOME": home.path, "XDG_CACHE_HOME": home.path(of: "cache"),
            "GSETTINGS_BACKEND": "memory", "GIO_USE_VFS": "local", "DBUS_SESSION_BUS_ADDRESS": "disabled:",
            "GTK_THEME": "Adwaita", "WAYLAND_DISPLAY": nil,
        ]
        return own.merging(changes) { $1 }
    }
}
#endif
