/// A command of another thread to the engine.
enum EngineCommand: Sendable {
    /// Starts an exchange that has waited in the queue for `queued`.
    case start(ExchangeRequest, queued: Duration)
    case cancel(UInt64)
    /// Resumes an exchange that was paused until its reader caught up.
    case readerReady(UInt64)
    case setSuspended(UInt64, isSuspended: Bool)
    case setRateLimit(Int?)
    /// Resumes exchanges that wait for memory.
    case memoryReleased
    case removeCookies
    /// Replaces connections, which may be dead after a change of the network.
    case networkChanged
    case stop
}
