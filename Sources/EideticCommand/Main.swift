import Glibc

/// The entry of the program.
@main
struct Main {
    /// Runs on the main thread, which is not used for anything else: commands may block.
    static func main() {
        // A reader who goes away is an error of write(2), which is reported where it happens.
        signal(SIGPIPE, SIG_IGN)
        let status = Program.run(Array(CommandLine.arguments.dropFirst()))
        _exit(status.rawValue)
    }
}
