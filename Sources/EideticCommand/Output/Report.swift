import EideticCore
import Glibc

/// Messages of a command to a person.
enum Report {
    /// Says on the standard error output what went wrong: `eidetic: photo.jpg: No such file or directory`.
    static func problem(_ message: String) {
        TextStream.output.flush()
        TextStream.errors.line("eidetic: " + Printable.text(message))
        TextStream.errors.flush()
    }

    /// Writes what is still kept, and gives the status with which the program ends.
    ///
    /// Where output could not be written it is a failure; a reader who went away (`| head`) needs no message.
    static func finish(_ status: ExitStatus) -> ExitStatus {
        TextStream.output.flush()
        TextStream.errors.flush()
        guard let failure = TextStream.output.failure else { return status }
        if failure != EPIPE { problem("the output could not be written: \(SystemError.message(failure))") }
        return status == .success ? .failure : status
    }
}
