/// The time limits and policies of a ``Lifecycle``.
package struct LifecycleRules: Sendable, Hashable {
    /// The treatment of an idle application in the background.
    package enum SuspensionPolicy: Sendable, Hashable {
        /// Freezes the process after it was idle for a while.
        case freeze
        /// Keeps the process running; only job control (Ctrl-Z) stops it.
        case keepRunning
        /// Terminates the application, because it is configured so or cannot be frozen.
        case terminate
    }

    /// The treatment of an idle application in the background.
    package var suspensionPolicy = SuspensionPolicy.freeze
    /// The background time of one stay in the background; 600 s by default, `nil` for no limit.
    package var backgroundBudget: Duration? = .seconds(600)
    /// The time limit of the launch, up to the acknowledgement of `didFinishLaunching`; 20 s by default.
    package var launchLimit: Duration = .seconds(20)
    /// The time limit of the callbacks between foreground states; 10 s by default.
    package var callbackLimit: Duration = .seconds(10)
    /// The time limit of `didEnterBackground`; 5 s by default.
    package var backgroundLimit: Duration = .seconds(5)
    /// The time limit of `willTerminate`, and of the exit that follows; 5 s each by default.
    package var terminationLimit: Duration = .seconds(5)
    /// The time between the call of the expiration handlers and the end of the last task; 5 s by default.
    package var expirationLimit: Duration = .seconds(5)
    /// The time in which an observer of states handles a change, after which nothing waits for it; 5 s by default.
    package var observerLimit: Duration = .seconds(5)
    /// The time limit of one wake; 30 s by default.
    package var wakeLimit: Duration = .seconds(30)
    /// The time limit of a wake for processing; 10 min by default.
    package var processingLimit: Duration = .seconds(600)
    /// The time without open tasks after which the process is frozen; merges bursts; 250 ms by default.
    package var idleInterval: Duration = .milliseconds(250)
    /// The time limit of a freeze; 2 s by default.
    package var freezeLimit: Duration = .seconds(2)
    /// The time between a failed freeze and the next attempt; 60 s by default.
    package var freezeRetryInterval: Duration = .seconds(60)
    /// The time within which a second suspension with a contended lock is fatal; 5 s by default.
    package var lockViolationWindow: Duration = .seconds(5)
    /// The shortest stay in the foreground that restores the background time; 5 s by default.
    package var budgetRefillTime: Duration = .seconds(5)
    /// The shortest time between two memory warnings of one level; 5 s by default.
    package var memoryWarningInterval: Duration = .seconds(5)
    /// The largest number of crashes during launch with which the application is still woken; 3 by default.
    package var launchCrashLimit = 3
    /// The largest number of crashes during wakes of one kind with which the application is still woken for it; 4 by
    /// default.
    package var wakeCrashLimit = 4
    /// The time between two extensions of the service manager's stop timeout, each by twice this time; 1 s by default.
    package var stopExtensionInterval: Duration = .seconds(1)
    /// The largest number of URLs that wait for an application; 64 by default.
    package var waitingURLLimit = 64
    /// The largest number of wakes that an application has not completed; 64 by default.
    package var openWakeLimit = 64
    /// The continuous assertions that the application declares; all by default.
    package var declaredAssertions: Set<ContinuousAssertion> = Set(ContinuousAssertion.allCases)
    /// The kinds of wake that the application declares; all by default.
    package var declaredWakeKinds: Set<WakeReason.Kind> = Set(WakeReason.Kind.allCases)

    package init() {}

    package func limit(of kind: WakeReason.Kind) -> Duration { kind == .processing ? processingLimit : wakeLimit }
}
