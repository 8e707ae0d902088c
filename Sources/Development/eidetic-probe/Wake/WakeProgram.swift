import EideticBackground
import EideticCore
import Glibc

/// An application that is woken, or one of the services of a desktop, for tests: each prints what it receives, and
/// reads commands from a FIFO.
enum WakeProgram {
    static func run(_ words: [String]) async throws {
        switch words.first {
        case "notification-server": NotificationServer(address: words[1]).run(readingFrom: words[2])
        case "distributor": Distributor(address: words[1]).run(readingFrom: words[2])
        case "location-service": LocationService(address: words[1]).run(readingFrom: words[2])
        default: try await WakeApplication(name: words.first ?? "app", options: Array(words.dropFirst())).run()
        }
    }
}
