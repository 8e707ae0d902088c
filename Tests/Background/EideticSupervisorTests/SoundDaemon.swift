import EideticCore
import EideticTestSupport
import Glibc

/// A sound server of a test, whose only sink is none.
final class SoundDaemon {
    enum Kind: String, CaseIterable, Sendable {
        case pulseAudio
        /// PipeWire, with players that speak the protocol of PulseAudio.
        case pipeWire
        /// PipeWire, with players of its own.
        case pipeWireNative
    }

    private let directory: TemporaryDirectory
    private var bus: String { "unix:path=\(directory.path(of: "bus"))" }
    private var processes: [Subprocess] = []
    /// The variables with which a program finds the server.
    let environment: [String: String]
    /// The command that plays silence.
    let player: String

    init(_ kind: Kind) async throws {
        directory = try TemporaryDirectory(named: "sound")
        let native = "env XDG_CONFIG_HOME=\(directory.path) pw-play \(directory.path(of: "silence.wav"))"
        player = kind == .pipeWireNative ? native : "pacat --raw /dev/zero"
        environment = [
            "XDG_RUNTIME_DIR": directory.path, "PULSE_SERVER": "unix:\(directory.path(of: "pulse/native"))",
            "PULSE_COOKIE": directory.path(of: "cookie"),
        ]
        mkdir(directory.path(of: "pulse"), 0o700)
        if kind == .pulseAudio {
            try startPulseAudio()
        } else {
            try writeSilence()
            try writeConfiguration()
            try await startPipeWire()
        }
        try await eventually("the sound server has a sink") {
            try await list("sinks").contains("Sample Specification")
        }
    }

    private func start(_ program: String, _ arguments: [String] = []) throws {
        let own: [String: String?] = [
            "HOME": directory.path, "PULSE_STATE_PATH": directory.path,
            "DBUS_SESSION_BUS_ADDRESS": bus, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent",
        ]
        let variables = environment.mapValues(String?.some).merging(own) { $1 }
        processes.append(try Subprocess(program, arguments: arguments, environment: variables))
    }

    private func startPulseAudio() throws {
        let socket = "module-native-protocol-unix socket=\(directory.path(of: "pulse/native"))"
        try start(
            "pulseaudio",
            [
                "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--log-target=stderr",
                "-L", "module-null-sink sink_name=none", "-L", socket,
            ]
        )
    }

    private func startPipeWire() async throws {
        // WirePlumber, which links players and sinks, ends without a bus.
        try start("dbus-daemon", ["--session", "--nofork", "--nopidfile", "--address=\(bus)"])
        try start("pipewire")
        try await eventually("bus and PipeWire have sockets") {
            ["bus", "pipewire-0"].allSatisfy { access(directory.path(of: $0), F_OK) == 0 }
        }
        try start("wireplumber")
        try start("pipewire-pulse")
    }

    /// Lets players of PipeWire's own say that they are forwarded, with more properties than anybody needs.
    private func writeConfiguration() throws {
        let list = (0..<300).map { "p\($0) = 1" }.joined(separator: " ")
        mkdir(directory.path(of: "pipewire"), 0o700)
        mkdir(directory.path(of: "pipewire/client-rt.conf.d"), 0o700)
        let text = "context.properties = { client.api = pipewire-pulse \(list) }"
        _ = try directory.write(Array(text.utf8), to: "pipewire/client-rt.conf.d/all.conf")
    }

    /// Writes half an hour of silence.
    private func writeSilence() throws {
        let rate: UInt32 = 8_000, length = rate * 1_800
        func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var file = Array("RIFF".utf8) + bytes(length + 36) + Array("WAVEfmt ".utf8) + bytes(16) + [1, 0, 1, 0]
        file += bytes(rate) + bytes(rate) + [1, 0, 8, 0] + Array("data".utf8) + bytes(length)
        file += [UInt8](repeating: 128, count: Int(length))
        _ = try directory.write(file, to: "silence.wav")
    }

    /// The number of streams that play.
    nonisolated(nonsending) func streamCount() async throws -> Int {
        try await list("sink-inputs").ranges(of: "Corked: no").count
    }

    private nonisolated(nonsending) func list(_ kind: String) async throws -> String {
        let variables = environment.mapValues(String?.some).merging(["LC_ALL": "C"]) { $1 }
        return try await Subprocess.run("pactl", arguments: ["list", kind], environment: variables).outputText
    }

    nonisolated(nonsending) func finish() async {
        for process in processes.reversed() { process.kill(SIGTERM) }
        for process in processes { _ = await process.waitUntilExit() }
    }
}
