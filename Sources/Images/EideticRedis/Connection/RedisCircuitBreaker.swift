#if Redis
import EideticCore

/// The limits of the connections to servers.
struct RedisLimits: Sendable {
    /// The longest time for a request.
    let timeout: Duration
    /// The time between two attempts to reach a server that does not respond.
    let retryInterval: Duration
    /// The largest number of bytes of an incomplete reply: those of a value, of what is around it, and of the buffer.
    let replyLimit: Int

    init(_ configuration: RedisTier.Configuration) {
        timeout = configuration.timeout
        retryInterval = configuration.retryInterval
        replyLimit = configuration.valueLimit.bytes + 1_048_576
    }
}

/// The circuit breaker of one server, as a value without a clock of its own.
///
/// The first time that a server does not respond, or refuses a connection, opens it: operations fail at once. The first
/// operation after the interval still fails at once, but has the server tried on the side; the circuit closes when that
/// succeeds. So a server that is stopped costs one time-out, and no operation waits for it again.
struct RedisCircuitBreaker: Sendable {
    /// The treatment of an operation.
    enum Admission: Sendable {
        case admitted
        /// The operation fails with the last error.
        case refused(EideticError)
        /// The operation fails with the last error, and the server is to be tried.
        case refusedTrying(EideticError)
    }

    private let interval: Duration
    private var failure: (error: EideticError, retryTime: Duration)?
    private var isTrying = false

    init(interval: Duration) { self.interval = interval }

    /// Returns the treatment of an operation.
    mutating func admit(at now: Duration) -> Admission {
        guard let failure else { return .admitted }
        guard now >= failure.retryTime, !isTrying else { return .refused(failure.error) }
        isTrying = true
        return .refusedTrying(failure.error)
    }

    /// Opens the circuit until the interval has passed; returns `true` if it was closed.
    mutating func open(after error: EideticError, at now: Duration) -> Bool {
        defer { (failure, isTrying) = ((error, now + interval), false) }
        return failure == nil
    }

    /// Closes the circuit; returns `true` if it was open.
    mutating func close() -> Bool {
        defer { (failure, isTrying) = (nil, false) }
        return failure != nil
    }
}
#endif
