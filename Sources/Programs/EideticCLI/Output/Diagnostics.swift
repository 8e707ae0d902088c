package import EideticCore
import Glibc

/// Error messages on standard error.
package enum Diagnostics {
    /// Writes an error message: `eidetic: photo.jpg: No such file or directory`.
    package static func report(_ message: String) {
        TextStream.output.flush()
        TextStream.errors.writeLine("eidetic: " + TerminalText.sanitized(message))
        TextStream.errors.flush()
    }

    /// Writes the message of an error, and at the end of the program what helps against it.
    package static func report(_ error: EideticError, of name: String? = nil) {
        note(error)
        report(name.map { "\($0): \(error.message)" } ?? error.message)
    }

    /// Remembers an error whose message is written elsewhere, so that the end of the program says what helps.
    package static func note(_ error: EideticError) {
        guard !explained.contains(error.code) else { return }
        codes.withLock { if !$0.contains(error.code) { $0.append(error.code) } }
    }

    /// The codes whose messages say what helps, which depends on the case.
    private static let explained: Set<EideticError.Code> = [
        .cancelled, .invalidURL, .invalidArgument, .refused, .notFound, .fileFailure, .encodingFailed,
    ]

    /// The codes of the errors that were reported.
    private static let codes = Guarded<[EideticError.Code]>([])

    /// Flushes the output and returns the exit status of the program.
    ///
    /// Output that cannot be written is a failure; for a closed pipe (`| head`) there is no message.
    package static func finish(with status: ExitStatus) -> ExitStatus {
        TextStream.output.flush()
        for code in codes.withLock({ $0 }) { report("what helps (\(code)): \(code.remedy)") }
        TextStream.errors.flush()
        guard let failure = TextStream.output.failure else { return status }
        if failure != EPIPE { report("cannot write the output: \(SystemError.message(for: failure))") }
        return status == .success ? .failure : status
    }
}
