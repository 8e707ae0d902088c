public import EideticCore

/// The receiver of an application's lifecycle callbacks, one at a time, on the main actor.
///
/// The default implementations do nothing. If a method exceeds its time limit, the process is killed: 5 s for entering
/// the background and for termination, 20 s for the launch, 10 s for the others. The reason is printed, and available
/// at the next launch. Use a background task for long work.
///
/// - SeeAlso: ``Application/states``, the same changes as an asynchronous sequence.
@MainActor
public protocol ApplicationDelegate: AnyObject, Sendable {
    /// Called at the start of the launch, before anything is visible.
    func applicationWillFinishLaunching(_ application: Application)

    /// Called at the end of the launch.
    ///
    /// - Parameters:
    ///   - application: The application.
    ///   - options: The reason for the launch, and the state to restore. After a launch into the background no window
    ///     must be shown.
    func application(_ application: Application, didFinishLaunchingWith options: LaunchOptions)

    /// Called after the application became active: visible, and receiving input.
    func applicationDidBecomeActive(_ application: Application)

    /// Called before the application stops receiving input: pause games, stop accepting requests.
    func applicationWillResignActive(_ application: Application)

    /// Called after the application entered the background; save all state, within 5 s.
    func applicationDidEnterBackground(_ application: Application)

    /// Returns the state to restore at the next launch; called after `applicationDidEnterBackground`, within the same 5
    /// s.
    func applicationArchive(_ application: Application) -> [UInt8]?

    /// Called before the application returns to the foreground.
    func applicationWillEnterForeground(_ application: Application)

    /// Called to open a URL, before the application becomes active; the supervisor reports the result to the sender.
    ///
    /// - Parameters:
    ///   - application: The application.
    ///   - url: The URL, which is not trusted.
    ///   - source: The identifier of the supervised application that sends the URL; `nil` for any other program.
    /// - Returns: `false` if the application does not open such a URL.
    func application(_ application: Application, open url: String, from source: String?) -> Bool

    /// Called when the supervisor wakes the application in the background, for up to 30 s: to fetch new content, for a
    /// silent push message, a change of location, or data on a socket.
    ///
    /// The task is cancelled when background time expires; a process whose delegate has not returned by then is killed,
    /// and the wake counts as failed.
    ///
    /// - Parameters:
    ///   - application: The application.
    ///   - wake: The reason; its payload is not trusted.
    /// - Returns: The result, which determines the times of later wakes.
    func application(_ application: Application, performWake wake: BackgroundWake) async -> BackgroundWake.Result

    /// Called when the supervisor has woken or launched the application for the events of a background session.
    ///
    /// Create the `BackgroundURLSession` with this identifier, unless it exists; its delegate then receives the events.
    /// Store the completion handler, and call it in `urlSessionDidFinishEvents`, within 30 s. The default
    /// implementation calls it after the last event.
    ///
    /// - Parameters:
    ///   - application: The application.
    ///   - identifier: The identifier of the session.
    ///   - completionHandler: To be called once, when the events are handled and the interface is up to date.
    func application(
        _ application: Application,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping @MainActor @Sendable () -> Void
    )

    /// Called when the address for push messages has changed, or there is none.
    ///
    /// - Parameters:
    ///   - application: The application.
    ///   - address: A URL for the server, which changes from time to time; `nil` if there is none.
    ///   - reason: The reason why there is no address.
    func application(
        _ application: Application,
        didRegisterForRemoteNotificationsWith address: String?,
        reason: String
    )

    /// Called when the user has responded to a notification; the application comes to the foreground.
    func application(_ application: Application, didReceive response: NotificationResponse)

    /// Called for an action of the application's desktop entry, such as one in the menu of its icon.
    ///
    /// - Parameters:
    ///   - application: The application.
    ///   - action: The name of the action.
    ///   - parameter: The text sent with the action, which is not trusted.
    func application(_ application: Application, performAction action: String, parameter: String)

    /// Called before the application terminates; it has 5 s, and can open no more background tasks.
    func applicationWillTerminate(_ application: Application)

    /// Called when memory is short: release what can be created again.
    func application(_ application: Application, didReceiveMemoryPressure level: MemoryPressure)
}

extension ApplicationDelegate {
    /// Does nothing.
    public func applicationWillFinishLaunching(_ application: Application) {}
    /// Does nothing.
    public func application(_ application: Application, didFinishLaunchingWith options: LaunchOptions) {}
    /// Returns `false`: no URL is opened.
    public func application(_ application: Application, open url: String, from source: String?) -> Bool { false }
    /// Returns that there was no new data.
    public func application(
        _ application: Application,
        performWake wake: BackgroundWake
    ) async -> BackgroundWake.Result { .noData }
    /// Does nothing.
    public func application(
        _ application: Application,
        didRegisterForRemoteNotificationsWith address: String?,
        reason: String
    ) {}
    /// Does nothing.
    public func application(_ application: Application, didReceive response: NotificationResponse) {}
    /// Does nothing.
    public func application(_ application: Application, performAction action: String, parameter: String) {}
    /// Does nothing.
    public func applicationDidBecomeActive(_ application: Application) {}
    /// Does nothing.
    public func applicationWillResignActive(_ application: Application) {}
    /// Does nothing.
    public func applicationDidEnterBackground(_ application: Application) {}
    /// Returns `nil`: no state is saved.
    public func applicationArchive(_ application: Application) -> [UInt8]? { nil }
    /// Does nothing.
    public func applicationWillEnterForeground(_ application: Application) {}
    /// Does nothing.
    public func applicationWillTerminate(_ application: Application) {}
    /// Does nothing.
    public func application(_ application: Application, didReceiveMemoryPressure level: MemoryPressure) {}
}

extension ApplicationDelegate {
    /// Keeps the completion handler until the session has delivered its last event, and calls it then.
    public func application(
        _ application: Application,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping @MainActor @Sendable () -> Void
    ) {
        BackgroundSessionWakes.shared.hold({ Task { @MainActor in completionHandler() } }, for: identifier)
    }

    /// Passes the wake for a session's events to the delegate.
    ///
    /// - Returns: A sequence without values, which ends when the completion handler is called.
    package func handleEvents(
        ofBackgroundURLSession identifier: String,
        for application: Application
    ) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        // The session says that its events are finished, also if none is left, while the wake has not ended.
        let wake = BackgroundSessionWakes.shared.begin(identifier)
        continuation.onTermination = { _ in BackgroundSessionWakes.shared.end(wake, of: identifier) }
        self.application(application, handleEventsForBackgroundURLSession: identifier) { continuation.finish() }
        return stream
    }
}
