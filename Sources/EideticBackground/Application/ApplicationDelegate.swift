public import EideticCore

/// The receiver of an application's lifecycle callbacks, one at a time, on the main actor.
///
/// The default implementation of each method does nothing. The process is killed if a method exceeds its time limit: 5
/// s for entering the background and for termination, 20 s for the launch, 10 s for the others. The reason is printed,
/// and available at the next launch. Long work belongs in a background task.
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
    ///   - archive: The state that was saved when the application last entered the background; `nil` if none was saved,
    ///     or the previous launch crashed, so that a bad archive is not restored twice.
    func application(_ application: Application, didFinishLaunchingWith archive: [UInt8]?)

    /// Called after the application became active: visible, and with the user's input.
    func applicationDidBecomeActive(_ application: Application)

    /// Called before the application loses the user's input: pause games, stop accepting requests.
    func applicationWillResignActive(_ application: Application)

    /// Called after the application entered the background; to save all state, within 5 s.
    func applicationDidEnterBackground(_ application: Application)

    /// Returns the state to restore at the next launch; called after `applicationDidEnterBackground`, within the same 5
    /// s.
    func applicationArchive(_ application: Application) -> [UInt8]?

    /// Called before the application returns to the foreground.
    func applicationWillEnterForeground(_ application: Application)

    /// Called before the application ends, within 5 s; no background task can start any more.
    func applicationWillTerminate(_ application: Application)

    /// Called when memory is short: release what can be created again.
    func application(_ application: Application, didReceiveMemoryPressure level: MemoryPressure)
}

extension ApplicationDelegate {
    /// Does nothing.
    public func applicationWillFinishLaunching(_ application: Application) {}
    /// Does nothing.
    public func application(_ application: Application, didFinishLaunchingWith archive: [UInt8]?) {}
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
