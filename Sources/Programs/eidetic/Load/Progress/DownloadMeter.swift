import EideticCore

/// The progress of one download, reported to a display.
final class DownloadMeter: Sendable {
    private let display: ProgressDisplay
    private let last = Guarded((received: 0, expected: 0))

    init(display: ProgressDisplay) { self.display = display }

    func update(_ progress: LoadProgress) {
        update { _ in (progress.received, max(progress.received, progress.expected ?? 0)) }
    }

    /// Reports that the download is complete.
    func complete(byteCount bytes: ByteCount) { update { _ in (bytes.bytes, bytes.bytes) } }

    /// Reports that the download has failed, so that no further bytes are expected.
    func fail() { update { last in (last.received, last.received) } }

    private func update(_ next: ((received: Int, expected: Int)) -> (received: Int, expected: Int)) {
        let change = last.withLock { last in
            let earlier = last
            last = next(earlier)
            return (received: last.received - earlier.received, expected: last.expected - earlier.expected)
        }
        display.addBytes(received: change.received, expected: change.expected)
    }
}
