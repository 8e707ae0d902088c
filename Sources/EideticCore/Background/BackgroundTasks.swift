/// Names a background task that is open.
public struct BackgroundTaskIdentifier: Hashable, Sendable {
    /// The number; 0 is ``invalid``.
    public let rawValue: UInt64

    /// Creates an identifier.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// No task: running in the background is not possible now.
    public static let invalid = BackgroundTaskIdentifier(rawValue: 0)
}

/// Keeps the process running while a piece of work is under way.
///
/// Store and pipeline take one task per burst of work, at the moment it is queued, and end it when the last piece is
/// done. What they need is no more than this protocol; ``ForegroundOnly`` does nothing.
public protocol BackgroundTaskProvider: Sendable {
    /// Says that work begins which should not be suspended.
    ///
    /// May be called on any thread at any time. The handler is called at most once, on any thread, when the time is
    /// used up; the work must then stop and the task still be ended. Gives `.invalid`, and never calls the handler, where
    /// no task may begin any more: then the work must not begin either.
    func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier

    /// Says that the work is over. A second call, and `.invalid`, do nothing.
    func endBackgroundTask(_ identifier: BackgroundTaskIdentifier)
}

/// Whether the application is seen.
public enum ApplicationPhase: Sendable, Hashable {
    /// It runs, and may be seen.
    case foreground
    /// It runs, unseen, and may be suspended soon.
    case background
}

/// How short memory is.
public enum MemoryPressure: Int, Sendable, Comparable, CaseIterable {
    /// Enough.
    case normal
    /// Half of what is purgeable should go.
    case warning
    /// Three quarters should go.
    case urgent
    /// Everything purgeable should go.
    case critical

    /// Orders levels from relaxed to critical.
    public static func < (left: MemoryPressure, right: MemoryPressure) -> Bool { left.rawValue < right.rawValue }

    /// The part of a cache that may stay at this level (C02).
    public var retainedFraction: Double {
        switch self {
        case .normal: 1
        case .warning: 0.5
        case .urgent: 0.25
        case .critical: 0
        }
    }
}

/// Where store and pipeline learn of the application's life: background tasks, phases, memory pressure.
public protocol ApplicationEnvironment: BackgroundTaskProvider {
    /// Every change of phase from now on; a new stream for each caller.
    var phases: AsyncStream<ApplicationPhase> { get }
    /// Every change of memory pressure from now on; a new stream for each caller.
    var memoryPressure: AsyncStream<MemoryPressure> { get }
}

/// The environment of a process that is always in the foreground: nothing is suspended, nothing expires.
public struct ForegroundEnvironment: ApplicationEnvironment {
    /// Creates the environment.
    public init() {}

    /// Gives an identifier that stands for nothing: there is nothing to hold off, and nothing is refused.
    public func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        BackgroundTaskIdentifier(rawValue: .max)
    }

    /// Does nothing.
    public func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {}

    /// A stream that ends at once.
    public var phases: AsyncStream<ApplicationPhase> { AsyncStream { $0.finish() } }

    /// A stream that ends at once.
    public var memoryPressure: AsyncStream<MemoryPressure> { AsyncStream { $0.finish() } }
}
