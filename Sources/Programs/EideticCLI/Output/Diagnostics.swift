import EideticCore
import Glibc

/// Error messages on standard error.
package enum Diagnostics {
    /// Writes an error message: `eidetic: photo.jpg: No such file or directory`.
    package static func report(_ message: String) {
        TextStream.output.flush()
        TextStream.errors.writeLine("eidetic: " + TerminalText.sanitized(message))
        TextStream.errors.flush()
    }

    /// Flushes the output and returns the exit status of the program.
    ///
    /// Output that cannot be written is a failure; for a closed pipe (`| head`) there is no message.
    package static func finish(with status: ExitStatus) -> ExitStatus {
        TextStream.output.flush()
        TextStream.errors.flush()
        guard let failure = TextStream.output.failure else { return status }
        if failure != EPIPE { report("cannot write the output: \(SystemError.message(for: failure))") }
        return status == .success ? .failure : status
    }
}
