/// The environment of a process that is always in the foreground: it is never suspended, and no task expires.
package struct ForegroundEnvironment: ApplicationEnvironment {
    /// Creates the environment.
    package init() {}

    /// Returns a valid identifier; nothing is suspended, so there is nothing to open.
    package func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        BackgroundTaskIdentifier(rawValue: .max)
    }

    /// Does nothing.
    package func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {}

    /// A stream that ends immediately.
    package var phases: AsyncStream<ApplicationPhase> { AsyncStream { $0.finish() } }

    /// A stream that ends immediately.
    package var memoryPressure: AsyncStream<MemoryPressure> { AsyncStream { $0.finish() } }
}
