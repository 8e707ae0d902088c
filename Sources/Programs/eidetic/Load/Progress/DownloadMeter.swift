import EideticCore
import EideticFetch

/// The progress of one download, reported to a display.
struct DownloadMeter {
    private let display: ProgressDisplay
    private var received = 0
    private var expected = 0

    init(display: ProgressDisplay) { self.display = display }

    /// Reports the progress of the download.
    mutating func update(_ progress: LoadProgress) {
        update(received: progress.received, expected: max(progress.received, progress.expected ?? 0))
    }

    /// Reports that the download is complete.
    mutating func complete(byteCount bytes: ByteCount) { update(received: bytes.bytes, expected: bytes.bytes) }

    /// Reports that the download has failed, so that no further bytes are expected.
    mutating func fail() { update(received: received, expected: received) }

    private mutating func update(received: Int, expected: Int) {
        display.addBytes(received: received - self.received, expected: expected - self.expected)
        self.received = received
        self.expected = expected
    }
}
