import EideticCore
import Glibc

/// A pipe by which a thread that waits for time to pass can be told that it is over.
final class WakeupPipe: Sendable {
    private let reader: Int32
    private let writer: Int32

    /// Opens the pipe; `nil` where the process has no file descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Ends all waiting, now and later.
    func wake() { _ = Glibc.write(writer, "!", 1) }

    /// Waits for so long; `true` once it was woken.
    func wait(milliseconds: Int32) -> Bool {
        var event = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, milliseconds) > 0
    }
}
