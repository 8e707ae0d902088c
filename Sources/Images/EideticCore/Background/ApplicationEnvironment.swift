/// The application's environment for caches and pipelines: background tasks, phases and memory pressure.
package protocol ApplicationEnvironment: BackgroundTaskProvider {
    /// The latest change of phase, if there was one, and the later ones; each access returns a new stream.
    var phases: AsyncStream<ApplicationPhase> { get }
    /// The latest change of memory pressure, if there was one, and the later ones; each access returns a new stream.
    var memoryPressure: AsyncStream<MemoryPressure> { get }
}
