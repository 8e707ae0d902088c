import EideticBackground
import EideticCore
import Glibc

/// Runs a plan until the application ends.
struct Probe: Sendable {
    let plan: Plan

    init(_ plan: Plan) { self.plan = plan }

    func run() async throws(EideticError) {
        let application = Application.shared
        if plan.pairs > 0 { makePairs(application) }
        if plan.withoutStart { return }
        try application.start(plan.configuration, delegate: await ProbeDelegate(plan))
        Task {
            for await level in application.memoryPressure { say("pressure \(level)") }
        }
        for await state in application.states { await follow(state, application) }
        // What is left is the end, which comes from elsewhere.
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    private func follow(_ state: ApplicationState, _ application: Application) async {
        say("state \(state.rawValue)")
        if state == .active {
            for presentation in plan.presents { application.present(presentation) }
        }
    }

    /// Begins and ends tasks in turn, from one thread.
    private func makePairs(_ application: Application) {
        for _ in 0..<plan.pairs {
            application.endBackgroundTask(application.beginBackgroundTask(withName: "pair") {})
        }
        say("pairs \(plan.pairs)")
    }
}
