import EideticCore
import EideticSupervisor
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

    /// Waits until the event was signalled or the socket is readable.
    func wait(orFor socket: PacketSocket?, atMost limit: Duration) async {
        await waitUntilReadable([reader, socket?.rawValue ?? -1], atMost: Int32(limit.inNanoseconds / 1_000_000))
        withExtendedLifetime(socket) {}
    }
}

/// Waits, on a thread of its own, until a descriptor is readable, or the time in milliseconds has passed.
private func waitUntilReadable(_ descriptors: [Int32], atMost limit: Int32) async {
    await withCheckedContinuation { continuation in
        Thread.start(name: "event") {
            var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            while poll(&polled, nfds_t(polled.count), limit) < 0, errno == EINTR {}
            continuation.resume()
        }
    }
}

extension ProcessHandle {
    /// Waits until the process has ended, collected or not.
    func waitForEnd() async {
        await waitUntilReadable([rawValue], atMost: -1)
        withExtendedLifetime(self) {}
    }
}

/// Kills a process, of whichever parent, and waits for its end.
func killAndWait(_ process: Int32) async {
    let handle = ProcessHandle(identifier: process)
    kill(process, SIGKILL)
    await handle?.waitForEnd()
}
