/// The application's environment for caches and pipelines: background tasks, phases and memory pressure.
package protocol ApplicationEnvironment: BackgroundTaskProvider {
    /// The latest change of phase, if there was one, and the later ones; each access returns a new stream.
    var phases: AsyncStream<ApplicationPhase> { get }
    /// The latest change of memory pressure, if there was one, and the later ones; each access returns a new stream.
    var memoryPressure: AsyncStream<MemoryPressure> { get }
}

/// The visibility of an application.
package enum ApplicationPhase: Sendable, Hashable {
    /// The application runs and may be visible.
    case foreground
    /// The application runs, is not visible, and may be suspended soon.
    case background
}

/// The environment of a process that is always in the foreground: it is never suspended, and no task expires.
package struct ForegroundEnvironment: ApplicationEnvironment {
    package init() {}

    /// Returns a valid identifier; nothing is suspended, so there is nothing to open.
    package func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        BackgroundTaskIdentifier(rawValue: .max)
    }

    package func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {}

    /// A stream that ends immediately.
    package var phases: AsyncStream<ApplicationPhase> { AsyncStream { $0.finish() } }

    /// A stream that ends immediately.
    package var memoryPressure: AsyncStream<MemoryPressure> { AsyncStream { $0.finish() } }
}
