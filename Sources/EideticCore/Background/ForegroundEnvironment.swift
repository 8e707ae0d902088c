/// The environment of a process that is always in the foreground: it is never suspended, and no task expires.
public struct ForegroundEnvironment: ApplicationEnvironment {
    /// Creates the environment.
    public init() {}

    /// Returns a valid identifier; nothing is suspended, so there is nothing to open.
    public func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        BackgroundTaskIdentifier(rawValue: .max)
    }

    /// Does nothing.
    public func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {}

    /// A stream that ends immediately.
    public var phases: AsyncStream<ApplicationPhase> { AsyncStream { $0.finish() } }

    /// A stream that ends immediately.
    public var memoryPressure: AsyncStream<MemoryPressure> { AsyncStream { $0.finish() } }
}
