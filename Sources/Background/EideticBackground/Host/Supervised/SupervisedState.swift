import EideticLifecycle
import EideticSupervision

/// The state of an application under a supervisor, from which another supervisor, or the stand-alone host, goes on.
struct SupervisedState {
    /// A callback that the application has not completed.
    struct PendingCallback {
        let callback: LifecycleCallback
        /// The number for the acknowledgement; `nil` if the supervisor that sent it is gone.
        var sequence: UInt64?
    }

    /// The last supervisor's `welcome`.
    var welcome: Welcome?
    /// The state that the completed callbacks have led to; `nil` before the launch.
    var reached: AdoptedProcess.State?
    var pendingCallbacks: [PendingCallback] = []
    /// The wakes that were received and are not completed.
    var wakes: [WakeReason] = []
    var assertions: Set<ContinuousAssertion> = []
    /// The presentation that this process has reported; `nil` if it knows none.
    var presentation: PresentationMessage?
    /// A Boolean value indicating whether the last change of the presentation waits for a supervisor.
    var isPresentationUnsent = false
    /// A Boolean value indicating whether `willTerminate` was completed.
    var hasTerminated = false

    /// Removes a completed callback and returns it; `nil` if it is unknown.
    mutating func complete(_ callback: LifecycleCallback) -> PendingCallback? {
        guard let index = pendingCallbacks.firstIndex(where: { $0.callback == callback }) else { return nil }
        switch callback {
        case .launch, .willResignActive, .willEnterForeground: reached = .inactive
        case .launchInBackground, .didEnterBackground: reached = .background
        case .didBecomeActive: reached = .active
        case .willTerminate: hasTerminated = true
        case .openURL, .wake: break
        }
        return pendingCallbacks.remove(at: index)
    }

    /// The state for the next supervisor's `hello`; `nil` before the launch.
    var running: Hello.RunningState? {
        guard let reached, let welcome else { return nil }
        var running = Hello.RunningState(reached, token: welcome.token, generation: welcome.generation)
        running.wakes = Array(wakes.prefix(SupervisionProtocol.listLimit))
        running.assertions = assertions
        return running
    }
}
