import EideticBackground
import EideticCore
import Glibc

/// An application that is woken, or one of the services of a desktop, for tests: each prints what it receives, and
/// reads commands from a FIFO.
@main
struct Main {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch words.first {
        case "notification-server": NotificationServer(address: words[1]).run(readingFrom: words[2])
        case "distributor": Distributor(address: words[1]).run(readingFrom: words[2])
        case "location-service": LocationService(address: words[1]).run(readingFrom: words[2])
        default: try await WakeApplication(name: words.first ?? "app", options: Array(words.dropFirst())).run()
        }
    }
}

/// Writes a line to the standard output in a single call.
func printLine(_ line: String) {
    _ = "\(line)\n".withCString { write(STDOUT_FILENO, $0, strlen($0)) }
}
