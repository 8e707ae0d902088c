import EideticCore
import EideticFetch

/// Tells a display how far one download is.
struct TransferMeter {
    private let display: LoadDisplay
    private var received = 0
    private var announced = 0

    init(_ display: LoadDisplay) { self.display = display }

    /// Notes what the download says.
    mutating func note(_ progress: FetchProgress) {
        update(received: progress.received, announced: max(progress.received, progress.expected ?? 0))
    }

    /// Notes that a picture has come over the network.
    mutating func complete(_ bytes: ByteCount) { update(received: bytes.bytes, announced: bytes.bytes) }

    /// Notes that no more will come.
    mutating func giveUp() { update(received: received, announced: received) }

    private mutating func update(received: Int, announced: Int) {
        display.transferred(received - self.received, announced: announced - self.announced)
        (self.received, self.announced) = (received, announced)
    }
}
