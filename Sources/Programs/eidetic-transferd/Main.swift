import CAllocation
import EideticCore
import EideticTransferEngine
import Glibc

/// `eidetic-transferd`: performs background transfers for the applications of one user.
@main
enum Main {
    /// The exit statuses of `sysexits.h`.
    private enum Status { static let usage: Int32 = 64, unavailable: Int32 = 69, temporaryFailure: Int32 = 75 }

    static func main() {
        eidetic_return_freed_memory()
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--help"] { return print(ServiceOptions.usage) }
        do throws(EideticError) {
            let options = try ServiceOptions(arguments: arguments) { getenv($0).map { String(cString: $0) } }
            try TransferDaemon.run(options)
        } catch {
            let line = Array("eidetic-transferd: \(error.message)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            switch error.code {
            case .invalidArgument: exit(Status.usage)
            case .refused: exit(Status.temporaryFailure)
            default: exit(Status.unavailable)
            }
        }
    }
}
