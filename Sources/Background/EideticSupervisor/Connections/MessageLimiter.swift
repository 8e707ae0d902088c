import EideticCore
import EideticSupervision

/// The limit of a process, which all of its connections share.
final class MessageLimiter {
    private var bucket: MessageBucket

    init(rate: Int) { bucket = MessageBucket(rate: rate, at: Clock.now) }

    /// Takes a token; returns `false` if there is none.
    func take() -> Bool { bucket.take(at: Clock.now) }

    /// The time until there is a token.
    var delay: Duration { bucket.delay }

    /// A Boolean value indicating whether a new limit would admit no more than this one.
    var isUnused: Bool { bucket.isFull(at: Clock.now) }
}
