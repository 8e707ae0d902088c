/// The phase that governs whether background tasks may start.
package enum TaskPhase: UInt32, Sendable, Hashable {
    case foreground, background
    /// Expiration handlers run; no task may start.
    case expiring
    /// `willTerminate` runs; no task may start.
    case terminating

    /// A Boolean value indicating whether background tasks may start.
    package var admitsTasks: Bool { self == .foreground || self == .background }
}
