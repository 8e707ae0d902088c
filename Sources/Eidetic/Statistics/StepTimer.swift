import EideticCore

/// A timer for one step of a load, started when it is created.
struct StepTimer {
    private let start = SystemTime().uptime

    var elapsed: Duration { SystemTime().uptime - start }

    func step(_ stage: LoadTrace.Stage, detail: String) -> LoadTrace.Step {
        LoadTrace.Step(stage: stage, duration: elapsed, detail: detail)
    }
}
