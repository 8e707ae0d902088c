package import EideticCore
import Glibc

/// A program that a test runs, with its collected output.
///
/// No member blocks a thread of the cooperative pool. A program that still runs when this object is deallocated is
/// killed.
package final class Subprocess: Sendable {
    /// The exit status and the complete output of a program.
    package struct Result: Sendable {
        package let status: ExitStatus
        package let output: [UInt8]
        package let errors: [UInt8]

        package var outputText: String { String(decoding: output, as: UTF8.self) }
        package var errorText: String { String(decoding: errors, as: UTF8.self) }
    }

    /// The process identifier.
    package let identifier: Int32
    private let monitor: ProcessMonitor

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: A path, or the name of a program in `PATH` or the system's directories.
    ///   - arguments: The arguments after the program's name.
    ///   - environment: Changes to this process's environment; `nil` removes a variable.
    ///   - directory: The working directory; this process's own by default.
    ///   - input: The bytes on the program's standard input.
    ///   - didChange: Called on another thread after the output has grown or the program has ended.
    /// - Throws: The error of the failed system call; `ENOENT` if there is no such program.
    package init(
        _ program: String,
        arguments: [String] = [],
        environment: [String: String?] = [:],
        directory: String? = nil,
        input: [UInt8] = [],
        didChange: @escaping @Sendable () -> Void = {}
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
        monitor = ProcessMonitor(identifier: identifier, didChange: didChange)
        monitor.startThreads(for: pipes, input: input)
    }

    deinit { monitor.kill(SIGKILL) }

    /// Sends a signal; does nothing if the program has ended.
    package func kill(_ signal: Int32 = SIGKILL) { monitor.kill(signal) }

    /// Waits until the program has ended and its output is complete.
    package func waitUntilExit() async -> Result { await monitor.waitUntilExit() }

    /// Waits until `text` has appeared `times` times in the output, or once in the errors.
    ///
    /// - Returns: `false` if the program closed its output before that, the task was cancelled, or the limit has
    ///   passed; otherwise, `true`.
    package func waitForOutput(_ text: String, times: Int = 1, limit: Duration = .seconds(60)) async -> Bool {
        await monitor.waitForOutput(Array(text.utf8), times: times, limit: limit)
    }

    /// The standard output so far.
    package var outputSoFar: String { monitor.currentText.output }

    /// The standard error so far.
    package var errorsSoFar: String { monitor.currentText.errors }

    /// Runs a program and waits until it has ended.
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

    /// Returns the path of a program in `PATH`, `/usr/sbin` or `/sbin`; `nil` if there is none.
    package static func executablePath(for program: String) -> String? {
        if program.contains("/") { return access(program, X_OK) == 0 ? program : nil }
        let variable = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return (variable.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"])
            .map { "\($0)/\(program)" }
            .first { access($0, X_OK) == 0 }
    }
}
