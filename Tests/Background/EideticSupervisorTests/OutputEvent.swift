import EideticCore
import Glibc

/// An event that threads signal, and that is waited for together with a socket.
final class OutputEvent: Sendable {
    private let reader: Int32
    private let writer: Int32

    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError(.open, errorNumber: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Wakes whoever waits; a full pipe is signalled already.
    @Sendable
    func signal() { withUnsafePointer(to: UInt8(1)) { _ = write(writer, $0, 1) } }

    /// Forgets the signals so far.
    func clear() {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while read(reader, &bytes, bytes.count) > 0 {}
    }

    /// Waits, on a thread of its own, until the event was signalled or the socket is readable.
    func wait(orFor socket: PacketSocket?, atMost limit: Duration) async {
        await withCheckedContinuation { continuation in
            Thread.start(name: "event") { [reader] in
                var polled = [reader, socket?.rawValue ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                _ = poll(&polled, 2, Int32(limit.inNanoseconds / 1_000_000))
                withExtendedLifetime(socket) {}
                continuation.resume()
            }
        }
    }
}
