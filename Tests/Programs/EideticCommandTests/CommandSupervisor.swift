import EideticTestSupport
import Glibc
import Testing

/// A supervisor with a directory of its own, and the commands that control its applications.
final class CommandSupervisor: Sendable {
    private let directory: TemporaryDirectory
    private let daemon: Subprocess
    private static let programs = EideticProgram.path.split(separator: "/").dropLast().map { "/\($0)" }.joined()

    /// Starts a supervisor that knows the desktop entries with these lines, by identifier.
    init(_ entries: [String: String] = [:]) async throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        for (identifier, lines) in entries {
            let text = """
                [Desktop Entry]
                Type=Application
                Name=Example
                Exec=\(Self.programs)/eidetic-probe wake \(identifier)
                \(lines)

                """
            try directory.write(Array(text.utf8), to: "entries/\(identifier).desktop")
        }
        let places = ["--runtime-directory": "run", "--state-directory": "state", "--applications": "entries"]
        daemon = try Subprocess(
            "\(Self.programs)/eideticd",
            arguments: places.flatMap { [$0, directory.path(of: $1)] } + [
                "--limit", "idle=20", "--bus", "none", "--system-bus", "none",
            ]
        )
        #expect(await daemon.waitForOutput("ready"), "\(daemon.errorsSoFar)")
    }

    /// Performs a command of `eidetic app`.
    func run(_ words: String...) async throws -> Subprocess.Result { try await run(words) }

    func run(_ words: [String]) async throws -> Subprocess.Result {
        let environment = ["EIDETIC_RUNTIME_DIR": directory.path(of: "run")]
        return try await Subprocess.run(EideticProgram.path, arguments: ["app"] + words, environment: environment)
    }

    /// Performs a command that is expected to succeed, and returns its output.
    @discardableResult
    func output(_ words: String..., location: SourceLocation = #_sourceLocation) async throws -> String {
        let result = try await run(words)
        #expect(result.status == .exited(0), "\(words): \(result.errorText)", sourceLocation: location)
        return result.outputText
    }

    /// Launches the program of wakes, with a file for its commands.
    func launch(_ name: String) async throws {
        mkfifo(fifo(of: name), 0o600)
        try await output(
            "launch",
            "--",
            name,
            "\(Self.programs)/eidetic-probe",
            "wake",
            name,
            "--commands",
            fifo(of: name)
        )
        await wait(for: "\(name) active\n")
    }

    private func fifo(of name: String) -> String { directory.path(of: "commands-\(name)") }

    /// Lets an application perform a command.
    func send(_ command: String, to name: String) async throws {
        let descriptor = open(fifo(of: name), O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        let line = "\(command)\n"
        #expect(write(descriptor, line, line.utf8.count) == line.utf8.count)
        await wait(for: "\(name) done \(command)\n")
    }

    /// Waits until an application has written a text.
    func wait(for text: String, location: SourceLocation = #_sourceLocation) async {
        let isFound = await withTaskCancellationHandler {
            await daemon.waitForOutput(text)
        } onCancel: { [daemon] in
            daemon.kill()
        }
        #expect(isFound, "\(daemon.outputSoFar)\(daemon.errorsSoFar)", sourceLocation: location)
    }

    /// Asks for the list until the only application has a state.
    func waitForState(_ state: String) async throws {
        try await eventually("an application is \(state)", value: { try await output("list", "--json") }) {
            $0.contains("\"state\":\"\(state)\"")
        }
    }

    func finish(_ names: String...) async throws {
        for name in names { _ = try await run("quit", "--force", name) }
        daemon.kill(SIGTERM)
        _ = await daemon.waitUntilExit()
    }
}
