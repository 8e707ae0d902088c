public import EideticCore

/// Told of each step in the application's life, one at a time, on the main actor.
///
/// Every method has a default that does nothing. A method that does not return in its time (5 s for entering the
/// background and for the end, 10 s for the others, 20 s for the launch) costs the process its life: the reason is
/// printed, and can be read at the next launch. Long work belongs into a background task.
///
/// - SeeAlso: ``Application/states``, the same as an asynchronous sequence.
@MainActor
public protocol ApplicationDelegate: AnyObject, Sendable {
    /// The launch begins; nothing is seen yet.
    func applicationWillFinishLaunching(_ application: Application)

    /// The launch is over; `archive` is what was saved on the way into the background, last time.
    ///
    /// `nil` where nothing was saved, or the last launch crashed, so that a bad archive is not offered twice.
    func application(_ application: Application, didFinishLaunchingWith archive: [UInt8]?)

    /// Seen, and with the user's input.
    func applicationDidBecomeActive(_ application: Application)

    /// About to lose the user's input: pause games, stop taking requests.
    func applicationWillResignActive(_ application: Application)

    /// Not seen any more: save now, for nothing is certain after it. 5 s at most.
    func applicationDidEnterBackground(_ application: Application)

    /// Gives what the next launch is to begin with; asked right after `applicationDidEnterBackground`, within its 5 s.
    func applicationArchive(_ application: Application) -> [UInt8]?

    /// About to be seen again.
    func applicationWillEnterForeground(_ application: Application)

    /// About to end; no background task may begin any more. 5 s at most.
    func applicationWillTerminate(_ application: Application)

    /// Memory is short: give back what can be made again.
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
    /// Gives `nil`: nothing is saved.
    public func applicationArchive(_ application: Application) -> [UInt8]? { nil }
    /// Does nothing.
    public func applicationWillEnterForeground(_ application: Application) {}
    /// Does nothing.
    public func applicationWillTerminate(_ application: Application) {}
    /// Does nothing.
    public func application(_ application: Application, didReceiveMemoryPressure level: MemoryPressure) {}
}
