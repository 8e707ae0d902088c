import EideticCore

/// A background task that ends exactly once: when this value is consumed or destroyed.
public struct BackgroundTaskAssertion: ~Copyable, Sendable {
    private let application: Application
    private let identifier: BackgroundTaskIdentifier

    /// Opens a task; see ``Application/beginBackgroundTask(withName:expirationHandler:)``.
    public init(
        named name: String,
        in application: Application = .shared,
        expirationHandler: (@MainActor @Sendable () -> Void)? = nil
    ) {
        self.application = application
        identifier = application.beginBackgroundTask(withName: name, expirationHandler: expirationHandler)
    }

    deinit { if isValid { application.endBackgroundTask(identifier) } }

    /// A Boolean value indicating whether the task was opened.
    public var isValid: Bool { identifier != .invalid }

    /// Ends the task.
    public consuming func end() {}
}
