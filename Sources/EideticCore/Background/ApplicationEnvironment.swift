/// The application's environment for caches and pipelines: background tasks, phases and memory pressure.
public protocol ApplicationEnvironment: BackgroundTaskProvider {
    /// The later changes of phase; each access returns a new stream.
    var phases: AsyncStream<ApplicationPhase> { get }
    /// The later changes of memory pressure; each access returns a new stream.
    var memoryPressure: AsyncStream<MemoryPressure> { get }
}
