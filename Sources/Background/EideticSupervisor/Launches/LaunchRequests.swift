/// The requests for a launch that are answered when the program has started, or cannot start, or takes long.
package struct LaunchRequests: ApplicationComponent {
    private static let countLimit = 64

    private let limit: Duration
    private var answers: [(_ failure: String?) -> Void] = []
    package private(set) var deadline: Duration?

    /// Creates the component, with the time after which a launch is answered that goes on.
    package init(limit: Duration) { self.limit = limit }

    /// Waits for the start of the program; returns `false` if it has started already, or if too many requests wait.
    package mutating func expect(
        in view: ApplicationView,
        at now: Duration,
        answer: @escaping (_ failure: String?) -> Void
    ) -> Bool {
        guard view.process?.slowStart != nil, answers.count < Self.countLimit else { return false }
        answers.append(answer)
        deadline = deadline ?? now + limit
        return true
    }

    /// Answers all requests that wait.
    package mutating func complete(failure: String?) -> [ApplicationEffect] {
        defer {
            answers = []
            deadline = nil
        }
        return answers.map { .answer($0, failure: failure) }
    }

    package mutating func handle(
        _ change: ApplicationChange,
        in view: ApplicationView,
        at now: Duration
    ) -> [ApplicationEffect] {
        change == .deadline ? complete(failure: view.process?.slowStart) : []
    }
}
