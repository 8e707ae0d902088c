import Glibc

/// The programs that the tests and the benchmarks start: the first argument names one, the others are its own.
@main
enum Main {
    @MainActor
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        let arguments = Array(words.dropFirst())
        do {
            switch words.first {
            case "background": await BackgroundProgram.run(arguments)
            #if Redis
            case "fleet": try await FleetProgram.run(arguments)
            #endif
            case "http-suite": await HTTPSuiteProgram.run()
            case "idle": try await idle()
            case "memory": try await MemoryProgram.run(arguments)
            case "session": await SessionProgram.run(arguments)
            case "supervised": SupervisedProgram.run(arguments)
            case "transfer-sandbox": try TransferSandboxProgram.run(arguments)
            case "wake": try await WakeProgram.run(arguments)
            default: fail("there is no program \(words.first ?? "without a name")")
            }
        } catch {
            // An error that left `main` would end the process with an illegal instruction.
            fail("\(error)")
        }
    }
}

/// Waits after it has used Swift's concurrency, whose scheduler then wakes once a second.
private func idle() async throws {
    await Task.detached { printLine("idle") }.value
    try await Task.sleep(for: .seconds(1_000))
}

/// Ends the process with a line on the standard error.
func fail(_ line: String) -> Never {
    _ = "eidetic-probe: \(line)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(2)
}

/// Writes a line to the standard output in a single call.
func printLine(_ line: String) {
    _ = "\(line)\n".withCString { write(STDOUT_FILENO, $0, strlen($0)) }
}
