/// The limits and the policy that a ``Lifecycle`` applies.
package struct LifecycleRules: Sendable, Hashable {
    /// What becomes of an application in the background that has nothing left to do.
    package enum SuspensionPolicy: Sendable, Hashable {
        /// It is frozen after a quiet time.
        case freeze
        /// It stays, and is frozen only where that is asked for (Ctrl-Z).
        case keepRunning
        /// It ends instead: it wants so, or nothing can freeze it.
        case terminate
    }

    /// What becomes of it in the background.
    package var suspensionPolicy = SuspensionPolicy.freeze
    /// Background time of one stay; 600 s.
    package var backgroundBudget: Duration = .seconds(600)
    /// Launch, until `didFinishLaunching` is acknowledged.
    package var launchLimit: Duration = .seconds(20)
    /// Other callbacks on the way between foreground states.
    package var callbackLimit: Duration = .seconds(10)
    /// `didEnterBackground`.
    package var backgroundLimit: Duration = .seconds(5)
    /// `willTerminate`, and what follows it until the exit.
    package var terminationLimit: Duration = .seconds(5)
    /// From the call of the expiration handlers to the end of the last task.
    package var expirationLimit: Duration = .seconds(5)
    /// One fetch, push or session wake.
    package var wakeLimit: Duration = .seconds(30)
    /// Without a task for so long, then frozen: merges bursts.
    package var idleInterval: Duration = .milliseconds(250)
    /// A freeze that takes longer has failed.
    package var freezeLimit: Duration = .seconds(2)
    /// A freeze that failed is tried again after this.
    package var freezeRetryInterval: Duration = .seconds(60)
    /// A second offence with a file lock within this time is fatal.
    package var lockViolationWindow: Duration = .seconds(5)
    /// A shorter stay in the foreground does not refill the budget.
    package var budgetRefillTime: Duration = .seconds(5)
    /// Between two memory warnings of one level.
    package var memoryWarningInterval: Duration = .seconds(5)
    /// More crashes than this during launch, and the application is not woken any more.
    package var launchCrashLimit = 3
    /// How often a service manager is told that a stop goes on; each time for twice as long.
    package var stopExtensionInterval: Duration = .seconds(1)
    /// Kinds of wake that the application declares.
    package var declaredWakeKinds: Set<WakeReason.Kind> = Set(WakeReason.Kind.allCases)

    package init() {}
}
