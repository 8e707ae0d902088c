import EideticCore
import Glibc

/// Carries packets between two TUN devices: each a while later, some never.
final class PacketRelay: Sendable {
    /// A packet on its way.
    private struct Flight {
        let due: Duration
        let target: Int32
        let bytes: [UInt8]
    }

    private struct Control {
        var isRunning = true
        var isReset = false
    }

    private let left: FileDescriptor
    private let right: FileDescriptor
    private let delay: Duration
    private let lossPerMille: UInt64
    private let control = Guarded(Control())

    init(_ left: consuming FileDescriptor, _ right: consuming FileDescriptor, delay: Duration, lossPerMille: Int) {
        self.left = left
        self.right = right
        self.delay = delay
        self.lossPerMille = UInt64(lossPerMille)
    }

    func start() { Thread.start(name: "relay") { [self] in carry() } }

    func stop() { control.withLock { $0.isRunning = false } }

    func reset() { control.withLock { $0.isReset = true } }

    private func carry() {
        let time = SystemTime()
        let ends = [left.number, right.number]
        var random = SplitMix(state: 1)
        var flights: [Flight] = []
        var first = 0
        var buffer = [UInt8](repeating: 0, count: 2_048)
        while true {
            let (isRunning, isReset) = control.withLock { state in
                defer { state.isReset = false }
                return (state.isRunning, state.isReset)
            }
            guard isRunning else { return }
            if isReset { random = SplitMix(state: 1) }
            wait(for: ends, until: first < flights.count ? flights[first].due : nil, time)
            for (index, end) in ends.enumerated() {
                while case let count = read(end, &buffer, buffer.count), count > 0 {
                    if random.next() % 1_000 < lossPerMille { continue }
                    let due = time.uptime + delay
                    flights.append(Flight(due: due, target: ends[1 - index], bytes: Array(buffer[..<count])))
                }
            }
            let now = time.uptime
            while first < flights.count, flights[first].due <= now {
                let flight = flights[first]
                _ = write(flight.target, flight.bytes, flight.bytes.count)
                first += 1
            }
            if first > 1_024 {
                flights.removeFirst(first)
                first = 0
            }
        }
    }

    /// Waits for a packet, or until the first one on its way is there.
    private func wait(for ends: [Int32], until due: Duration?, _ time: SystemTime) {
        var files = ends.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let longest = due.map { max(.zero, $0 - time.uptime) } ?? .milliseconds(100)
        poll(&files, nfds_t(files.count), Int32(longest.inMilliseconds.rounded(.up)))
    }
}
