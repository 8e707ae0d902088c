package import EideticCore

/// How much memory can still be taken, asked of the kernel at most four times a second.
package final class AvailableMemory: Sendable {
    private let time: any TimeSource
    private let read: @Sendable () -> ByteCount
    private let sample = Guarded<(at: Duration, bytes: Int)?>(nil)

    /// Creates a source that asks `read`, which by default asks the kernel.
    package init(time: any TimeSource, read: @escaping @Sendable () -> ByteCount = { MemoryLimits.available() }) {
        self.time = time
        self.read = read
    }

    /// The bytes that could be taken a quarter of a second ago at most.
    package var bytes: Int {
        let now = time.uptime
        if let bytes = sample.withLock({ known in known.flatMap { now - $0.at < .milliseconds(250) ? $0.bytes : nil } })
        {
            return bytes
        }
        let bytes = read().bytes
        sample.withLock { $0 = (now, bytes) }
        return bytes
    }
}
