import EideticCore
import EideticTestSupport
import Glibc

/// Forwards packets between two TUN devices with a delay, and drops some.
final class PacketRelay: Sendable {
    /// A packet that waits for its delivery time.
    private struct DelayedPacket {
        let due: Duration
        let target: Int32
        let bytes: [UInt8]
    }

    private struct Control {
        var isRunning = true
        var needsReset = false
    }

    private let left: FileDescriptor
    private let right: FileDescriptor
    private let delay: Duration
    private let lossPerMille: UInt64
    private let control = Guarded(Control())

    init(
        between left: consuming FileDescriptor,
        and right: consuming FileDescriptor,
        delay: Duration,
        lossPerMille: Int
    ) {
        self.left = left
        self.right = right
        self.delay = delay
        self.lossPerMille = UInt64(lossPerMille)
    }

    func start() { Thread.start(name: "relay") { [self] in relayPackets() } }

    func stop() { control.withLock { $0.isRunning = false } }

    func reset() { control.withLock { $0.needsReset = true } }

    private func relayPackets() {
        let time = SystemTime()
        let ends = [left.rawValue, right.rawValue]
        var random = SplitMix(state: 1)
        var packets: [DelayedPacket] = []
        var first = 0
        var buffer = [UInt8](repeating: 0, count: 2_048)
        while true {
            let (isRunning, needsReset) = control.withLock { state in
                defer { state.needsReset = false }
                return (state.isRunning, state.needsReset)
            }
            guard isRunning else { return }
            if needsReset { random = SplitMix(state: 1) }
            wait(for: ends, until: first < packets.count ? packets[first].due : nil, time: time)
            for (index, end) in ends.enumerated() {
                while case let count = read(end, &buffer, buffer.count), count > 0 {
                    if random.next() % 1_000 < lossPerMille { continue }
                    let due = time.uptime + delay
                    packets.append(DelayedPacket(due: due, target: ends[1 - index], bytes: Array(buffer[..<count])))
                }
            }
            let now = time.uptime
            while first < packets.count, packets[first].due <= now {
                let packet = packets[first]
                _ = write(packet.target, packet.bytes, packet.bytes.count)
                first += 1
            }
            if first > 1_024 {
                packets.removeFirst(first)
                first = 0
            }
        }
    }

    /// Waits for an incoming packet, at most until the time `due` of the next delivery.
    private func wait(for ends: [Int32], until due: Duration?, time: SystemTime) {
        var files = ends.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let longest = due.map { max(.zero, $0 - time.uptime) } ?? .milliseconds(100)
        poll(&files, nfds_t(files.count), Int32(longest.inMilliseconds.rounded(.up)))
    }
}
