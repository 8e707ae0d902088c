import EideticBackground
import EideticCore
import Glibc

/// An application for tests: says on its standard output what it is told, and behaves as well or badly as it is asked.
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

/// Writes a line, at once and whole.
func printLine(_ line: String) {
    let text = line + "\n"
    _ = text.withCString { write(STDOUT_FILENO, $0, strlen($0)) }
}
