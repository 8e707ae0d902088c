import EideticCore

/// A timer for one step of a load, started when it is created.
struct StepTimer {
    private let start = SystemTime().uptime
    private let context: JobContext?
    private let earlierWaitingTime: Duration

    /// Creates a timer; the waiting time of the step is that of the job with this context.
    init(_ context: JobContext? = nil) {
        self.context = context
        earlierWaitingTime = context?.waitingTime ?? .zero
    }

    var elapsed: Duration { SystemTime().uptime - start }

    /// Returns the step that ends now.
    func step(_ stage: LoadTrace.Stage, detail: String, waiting: Duration = .zero) -> LoadTrace.Step {
        let duration = elapsed
        let ownWaitingTime = (context?.waitingTime ?? .zero) - earlierWaitingTime
        return LoadTrace.Step(
            stage: stage,
            duration: duration,
            waiting: min(duration, ownWaitingTime + waiting),
            detail: detail
        )
    }
}
