import EideticCLI
import Glibc

/// The entry point of the program, which `eidetic app` executes.
@main
struct Main {
    static func main() {
        // A closed pipe is then an error of write(2), which is handled by its caller.
        signal(SIGPIPE, SIG_IGN)
        let status = CommandRunner.run(Array(CommandLine.arguments.dropFirst()), root: AppCommands.root)
        _exit(status.rawValue)
    }
}
