import EideticBackground
import EideticCore
import EideticProbeWords
import Glibc

/// An application that uses the library under a supervisor, for benchmarks and long tests: what happens in it is seen
/// in a file of words, without output that would take time.
@main
struct Main {
    static func main() async throws {
        let plan = try ApplicationPlan(CommandLine.arguments.dropFirst())
        let application = Application.shared
        try application.start(delegate: Delegate(plan: plan))
        if plan.isStorm { MarkedStorm(words: plan.words, application: application).start() }
        if let path = plan.commandPath { TaskCommands(application: application).start(readingFrom: path) }
        await application.waitUntilTerminated()
    }
}

/// Writes a line to the standard output in a single call.
func printLine(_ line: String) {
    _ = "\(line)\n".withCString { write(STDOUT_FILENO, $0, strlen($0)) }
}

/// The time in nanoseconds of `CLOCK_MONOTONIC`.
var currentTime: UInt64 { UInt64(SystemTime().uptime.inNanoseconds) }
