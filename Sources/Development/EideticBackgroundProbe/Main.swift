import EideticBackground
import EideticCore
import Glibc

/// An application for tests: it prints its callbacks, and behaves as its arguments say.
@main
struct Main {
    static func main() async {
        do throws(EideticError) {
            try await Probe(plan: ProbePlan(arguments: CommandLine.arguments.dropFirst())).run()
        } catch {
            printLine("error \(error)")
            exit(2)
        }
    }
}

/// Writes a line to the standard output in a single call.
func printLine(_ line: String) {
    let text = line + "\n"
    _ = text.withCString { write(STDOUT_FILENO, $0, strlen($0)) }
}
