package import EideticCore
package import Glibc

/// Another program that a test runs: its output is kept, it can be waited for and killed.
///
/// Nothing here blocks a thread of the cooperative pool. A program that still runs when this object is given up is
/// killed.
package final class Subprocess: Sendable {
    /// All that a program left.
    package struct Result: Sendable {
        package let status: ExitStatus
        package let output: [UInt8]
        package let errors: [UInt8]

        package var outputText: String { String(decoding: output, as: UTF8.self) }
        package var errorText: String { String(decoding: errors, as: UTF8.self) }
    }

    /// The system's number for the process.
    package let identifier: pid_t
    private let monitor: ProcessMonitor

    /// Starts a program.
    ///
    /// A `program` without a slash is looked for in `PATH` and the system's directories. `environment` changes single
    /// variables of this process's environment; `nil` takes one away. `input` is what it reads from its standard input.
    package init(
        _ program: String,
        arguments: [String] = [],
        environment: [String: String?] = [:],
        directory: String? = nil,
        input: [UInt8] = []
    ) throws(SystemError) {
        guard let path = Self.executablePath(for: program) else {
            throw SystemError(.open, errorNumber: ENOENT, path: program)
        }
        let pipes = try ProcessPipes()
        identifier = try ProcessConfiguration(
            path: path,
            arguments: [program] + arguments,
            environment: environment,
            directory: directory
        ).spawn(with: pipes)
        monitor = ProcessMonitor(identifier: identifier)
        monitor.startThreads(for: pipes, input: input)
    }

    deinit { monitor.kill(SIGKILL) }

    /// Sends a signal; does nothing where the program has ended.
    package func kill(_ signal: Int32 = SIGKILL) { monitor.kill(signal) }

    /// Waits until it has ended and its output is complete.
    package func waitUntilExit() async -> Result { await monitor.finish() }

    /// Waits until `text` has appeared in its output or its errors; `false` where it ended without that.
    package func waitForOutput(_ text: String, times: Int = 1) async -> Bool {
        await monitor.waitForOutput(Array(text.utf8), times: times)
    }

    /// What it has written to its standard output so far.
    package var outputSoFar: String { monitor.currentText.output }

    /// What it has written to its standard error so far.
    package var errorsSoFar: String { monitor.currentText.errors }

    /// Runs a program to its end.
    package static func run(
        _ program: String,
        arguments: [String] = [],
        environment: [String: String?] = [:],
        directory: String? = nil,
        input: [UInt8] = []
    ) async throws(SystemError) -> Result {
        let process = try Subprocess(
            program,
            arguments: arguments,
            environment: environment,
            directory: directory,
            input: input
        )
        return await process.waitUntilExit()
    }

    /// The path of an executable file, as a shell finds it, and in `/usr/sbin` and `/sbin` as well.
    package static func executablePath(for program: String) -> String? {
        if program.contains("/") { return access(program, X_OK) == 0 ? program : nil }
        let variable = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return (variable.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"])
            .map { "\($0)/\(program)" }
            .first { access($0, X_OK) == 0 }
    }
}
