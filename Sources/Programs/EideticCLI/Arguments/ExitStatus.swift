/// The exit status of the program.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    case success = 0
    /// A part of the command failed, and an error was reported.
    case failure = 1
    /// The command line was invalid, and nothing was done.
    case usage = 2
    /// The command was stopped by Ctrl-C.
    case interrupted = 130
    /// The command was stopped by SIGTERM.
    case terminated = 143

    /// Each status with its meaning, which is the same for all commands.
    static var table: [(String, String)] { allCases.map { ("\($0.rawValue)", $0.meaning) } }

    private var meaning: String {
        switch self {
        case .success: "success"
        case .failure: "something failed, was skipped or is damaged; standard error says what"
        case .usage: "the command line is invalid, and nothing was done"
        case .interrupted: "stopped by Ctrl-C"
        case .terminated: "stopped by SIGTERM"
        }
    }
}
