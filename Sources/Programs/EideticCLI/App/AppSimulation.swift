import EideticCore
import EideticSupervision

/// The words of `eidetic app simulate`.
enum AppSimulation {
    static func parse(_ words: [String]) throws(EideticError) -> ControlRequest.Simulation {
        let numbers = words.dropFirst().compactMap { Double($0) }
        switch (words.first, words.count) {
        case ("fetch", 1): return .fetch
        case ("expire", 1): return .expire
        case ("task", 2): return .task(words[1])
        case ("memory", 2):
            guard let level = UInt8(words[1]), (1...3).contains(level) else {
                throw EideticError(.invalidArgument, message: "memory \(words[1]): the level is 1, 2 or 3")
            }
            return .memory(level)
        case ("location", 3), ("location", 4):
            guard numbers.count == words.count - 1 else {
                throw EideticError(.invalidArgument, message: "location: latitude, longitude and accuracy are numbers")
            }
            return .location(latitude: numbers[0], longitude: numbers[1], accuracy: numbers.count > 2 ? numbers[2] : 0)
        default:
            throw EideticError(
                .invalidArgument,
                message: "\(words.joined(separator: " ")): no event; see eidetic app simulate --help"
            )
        }
    }
}
