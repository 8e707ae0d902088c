package import EideticCore

/// The memory that is still available, read from the kernel at most four times a second.
package final class AvailableMemory: Sendable {
    private let time: any TimeSource
    private let read: @Sendable () -> ByteCount
    private let sample = Guarded<(time: Duration, bytes: Int)?>(nil)

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - time: The source of the time.
    ///   - read: The function that measures the available memory; the kernel's figures by default.
    package init(time: any TimeSource, read: @escaping @Sendable () -> ByteCount = { MemoryLimits.available() }) {
        self.time = time
        self.read = read
    }

    /// The available bytes, at most a quarter of a second old.
    package var bytes: Int {
        let now = time.uptime
        if let bytes = sample.withLock({ $0.flatMap { now - $0.time < .milliseconds(250) ? $0.bytes : nil } }) {
            return bytes
        }
        let bytes = read().bytes
        sample.withLock { $0 = (now, bytes) }
        return bytes
    }
}
