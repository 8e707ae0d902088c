/// The exit status of the program.
package enum ExitStatus: Int32, Sendable {
    /// The command succeeded.
    case success = 0
    /// A part of the command failed, and an error was reported.
    case failure = 1
    /// The command line was invalid, and nothing was done.
    case usage = 2
    /// The command was stopped by Ctrl-C.
    case interrupted = 130
    /// The command was stopped by SIGTERM.
    case terminated = 143
}
