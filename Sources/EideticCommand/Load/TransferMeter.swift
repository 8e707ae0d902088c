import EideticCore
import EideticFetch

/// Tells a display how far one download is.
struct DownloadMeter {
    private let display: ProgressDisplay
    private var received = 0
    private var expected = 0

    init(display: ProgressDisplay) { self.display = display }

    /// Notes what the download says.
    mutating func update(_ progress: FetchProgress) {
        update(received: progress.received, expected: max(progress.received, progress.expected ?? 0))
    }

    /// Notes that a picture has come over the network.
    mutating func complete(byteCount bytes: ByteCount) { update(received: bytes.bytes, expected: bytes.bytes) }

    /// Notes that no more will come.
    mutating func fail() { update(received: received, expected: received) }

    private mutating func update(received: Int, expected: Int) {
        display.addBytes(received: received - self.received, expected: expected - self.expected)
        (self.received, self.expected) = (received, expected)
    }
}
