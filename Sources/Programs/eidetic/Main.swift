import EideticCLI
import EideticCore
import Glibc

/// The entry point of the program.
@main
struct Main {
    /// Runs the command on the main thread, which has no other use, so commands can block.
    static func main() {
        // A closed pipe is then an error of write(2), which is handled by its caller.
        signal(SIGPIPE, SIG_IGN)
        FreedMemory.keep()
        let words = Array(CommandLine.arguments.dropFirst())
        SecretArguments.wipe(words)
        if words.first == AppCommands.command.name { AppExecutable.execute(words.dropFirst()) }
        let status = Program.run(words)
        _exit(status.rawValue)
    }
}
