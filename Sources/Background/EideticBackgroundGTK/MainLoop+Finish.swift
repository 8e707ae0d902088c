#if GTK
internal import CGTK
public import EideticBackground
public import EideticGTK

extension MainLoop {
    /// Terminates an application, and runs the main loop until its background tasks have ended.
    ///
    /// The last statement of a program whose windows are closed: what is being stored is still written, for at most the
    /// grace period of the application, and the process exits with status 0.
    ///
    /// - Parameter application: The application; it need not be started.
    @MainActor
    public static func finish(_ application: Application = .shared) -> Never {
        // The process exits on the main actor.
        attach()
        application.finish()
        while true { g_main_context_iteration(nil, 1) }
    }
}
#endif
