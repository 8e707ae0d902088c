import EideticCore
import Glibc

/// Messages of a command to a person.
enum Diagnostics {
    /// Says on the standard error output what went wrong: `eidetic: photo.jpg: No such file or directory`.
    static func report(_ message: String) {
        TextStream.output.flush()
        TextStream.errors.writeLine("eidetic: " + TerminalText.sanitized(message))
        TextStream.errors.flush()
    }

    /// Writes what is still kept, and gives the status with which the program ends.
    ///
    /// Where output could not be written it is a failure; a reader who went away (`| head`) needs no message.
    static func finish(with status: ExitStatus) -> ExitStatus {
        TextStream.output.flush()
        TextStream.errors.flush()
        guard let failure = TextStream.output.failure else { return status }
        if failure != EPIPE { report("the output could not be written: \(SystemError.message(for: failure))") }
        return status == .success ? .failure : status
    }
}
