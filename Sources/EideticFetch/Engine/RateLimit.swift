import EideticCore

/// How many bytes may come now: a bucket that fills steadily and holds a tenth of a second's worth.
struct RateLimit: Sendable {
    private let bytesPerSecond: Double
    private var tokens: Double
    private var lastLook: Duration

    init(bytesPerSecond: Int, now: Duration) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
        tokens = 0
        lastLook = now
    }

    /// Fills the bucket, and takes out what came.
    mutating func note(_ bytes: Int, now: Duration) {
        tokens = min(bytesPerSecond / 10, tokens + bytesPerSecond * (now - lastLook).inSeconds) - Double(bytes)
        lastLook = now
    }

    /// How long until bytes may come again; zero where they may.
    var wait: Duration { tokens > 0 ? .zero : .seconds((1 - tokens) / bytesPerSecond) }
}
