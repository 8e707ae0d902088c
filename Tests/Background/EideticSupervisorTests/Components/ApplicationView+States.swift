import EideticCore
import EideticLifecycle
import EideticSupervision
import EideticSupervisor

extension ApplicationView {
    /// The time of the last event before a test.
    static var start: Duration { .seconds(100) }

    /// An application with a process in a state, without open tasks unless they are given.
    static func running(
        _ state: AdoptedProcess.State,
        openTasks: Int = 0,
        assertions: Set<ContinuousAssertion> = []
    ) -> ApplicationView {
        var lifecycle = Lifecycle()
        _ = lifecycle.handle(
            .processAdopted(AdoptedProcess(state, openTasks: openTasks, assertions: assertions)),
            at: start
        )
        var process = Process(lifecycle.process)
        process.openTasks = { openTasks }
        process.isSuspended = state == .suspended
        return ApplicationView(lifecycle, process: process)
    }

    static var notRunning: ApplicationView { ApplicationView(Lifecycle()) }

    /// The application at another moment.
    func at(_ now: Duration) -> ApplicationView {
        var view = self
        view.now = now
        return view
    }
}

extension [ApplicationEffect] {
    /// The events for the state machine.
    var events: [LifecycleEvent] { compactMap { if case .handle(let event) = $0 { event } else { nil } } }

    /// The lines for the log.
    var lines: [String] { compactMap { if case .log(let text) = $0 { text } else { nil } } }

    /// The messages for the application.
    var messages: [SupervisorMessage] { compactMap { if case .send(let message) = $0 { message } else { nil } } }

    /// The requests for the state machine.
    var requests: [LifecycleEvent] { compactMap { if case .request(let event) = $0 { event } else { nil } } }

    /// The first work whose progress is shown.
    var shownWork: ContinuedWork? {
        compactMap { if case .desktop(.showProgress(let work, _)) = $0 { work } else { nil } }.first
    }

    /// Performs the effects that answer a sender.
    func answer() { for case .answer(let body, let failure) in self { body(failure) } }

    /// The effects without a value, by their names; those for the process and the desktop by the names of the requests.
    var names: [String] {
        map { effect in
            switch effect {
            case .process(let request): Self.name(of: request)
            case .desktop(let request): Self.name(of: request)
            default: Self.name(of: effect)
            }
        }
    }

    private static func name(of value: some Any) -> String { String("\(value)".prefix { $0 != "(" }) }
}
