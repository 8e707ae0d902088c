/// The requests for a launch that are answered when the program has connected, or cannot start, or takes long.
package struct LaunchRequests: ApplicationComponent {
    package enum Answer: Sendable, Hashable {
        case started
        /// The program was started, but with this restriction.
        case note(String)
        case failed(String)
    }

    private static let countLimit = 64

    private let limit: Duration
    private var answers: [(Answer) -> Void] = []
    package private(set) var deadline: Duration?

    /// Creates the component, with the time after which a launch is answered that goes on.
    package init(limit: Duration) { self.limit = limit }

    /// Waits for the program; returns `false` if it has connected already, or if too many requests wait.
    package mutating func expect(in view: ApplicationView, answer: @escaping (Answer) -> Void) -> Bool {
        guard let process = view.process, !process.isWelcomed, !view.isPlain, !view.isAdopting,
            answers.count < Self.countLimit
        else { return false }
        answers.append(answer)
        deadline = deadline ?? view.now + limit
        return true
    }

    /// Answers all requests that wait.
    package mutating func complete(_ answer: Answer) -> [ApplicationEffect] {
        defer {
            answers = []
            deadline = nil
        }
        return answers.map { body in .answer({ _ in body(answer) }, failure: nil) }
    }

    /// Answers all requests, as the program cannot be started.
    package mutating func fail(because reason: String) -> [ApplicationEffect] {
        let obstacle = "it cannot be started: \(reason)"
        return [.log("cannot start: \(reason)"), .recordObstacle(obstacle)] + complete(.failed(obstacle))
    }

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        guard deadline != nil, let process = view.process else { return [] }
        if process.isWelcomed { return complete(.started) }
        let number = process.number
        if view.isPlain { return complete(.note("process \(number) does not connect: \(PlainProgram.explanation)")) }
        guard change == .deadline else { return [] }
        return complete(process.slowStart.map { .failed($0) } ?? .note("process \(number) has not connected yet"))
    }
}
