import Glibc

/// Runs benchmarks: `eidetic-bench [--list] [--json] SUITE [--NAME=VALUE …] …`.
@main
struct Main {
    static func main() async {
        do {
            if CommandLine.arguments.dropFirst().first == MeasuredProcess.helperOption {
                return try MeasuredProcess.printPeakMemory(of: Array(CommandLine.arguments.dropFirst(2)))
            }
            let request = try BenchRequest(arguments: Array(CommandLine.arguments.dropFirst()))
            exit(await request.perform())
        } catch {
            printError("eidetic-bench: \(error.message)")
            exit(2)
        }
    }
}

/// Writes a line to standard error.
func printError(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(2, bytes, bytes.count)
}
