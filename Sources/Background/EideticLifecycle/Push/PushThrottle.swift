/// The limit of silent messages to one application: three an hour, and three at once after a pause.
package struct PushThrottle: Sendable, Hashable {
    /// The greatest number of messages at once.
    package static let burst = 3.0
    /// The time after which another message is admitted, in seconds.
    package static let interval: Int64 = 1_200

    /// The number of messages that are admitted now, at the time of ``lastTime``.
    package var tokens = burst
    package var lastTime: Int64?
    /// The newest message that was not admitted; earlier ones are dropped.
    package var waiting: [UInt8]?

    package init() {}

    /// Takes a message: returns it if it is admitted now, otherwise keeps it in place of an earlier one.
    package mutating func admit(_ payload: [UInt8], at steady: Int64) -> [UInt8]? {
        waiting = payload
        return takeWaiting(at: steady)
    }

    /// Returns the message that waited, if it is admitted now.
    package mutating func takeWaiting(at steady: Int64) -> [UInt8]? {
        refill(at: steady)
        guard waiting != nil, tokens >= 1 else { return nil }
        tokens -= 1
        return waiting.take()
    }

    private mutating func refill(at steady: Int64) {
        let elapsed = Swift.max(0, steady - (lastTime ?? steady))
        tokens = Swift.min(Self.burst, tokens + Double(elapsed) / Double(Self.interval))
        lastTime = steady
    }

    /// The time at which the message that waits is admitted, by the steady clock; `nil` if none waits.
    package var nextTime: Int64? {
        guard waiting != nil, let lastTime else { return nil }
        return lastTime + Int64((Swift.max(0, 1 - tokens) * Double(Self.interval)).rounded(.up))
    }
}
