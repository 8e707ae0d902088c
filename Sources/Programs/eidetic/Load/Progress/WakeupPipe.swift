import EideticCore
import Glibc

/// A pipe that wakes a thread from a timed wait.
final class WakeupPipe: Sendable {
    private let reader: Int32
    private let writer: Int32

    /// Opens the pipe; returns `nil` if the process has no file descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Ends all current and future waits.
    func wake() { _ = Glibc.write(writer, "!", 1) }

    /// Waits for a wake-up.
    ///
    /// - Returns: `true` if the pipe was woken; `false` after the given time.
    func wait(milliseconds: Int32) -> Bool {
        var event = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, milliseconds) > 0
    }
}
