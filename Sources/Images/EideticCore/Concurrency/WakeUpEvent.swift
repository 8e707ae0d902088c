import CLinux
import Glibc

/// An `eventfd` by which other threads wake a thread that polls.
package final class WakeUpEvent: Sendable {
    private let file: FileDescriptor

    package init() throws(SystemError) {
        let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { throw SystemError(.open, errorNumber: errno, path: "eventfd") }
        file = FileDescriptor(adopting: number)
    }

    /// The descriptor that is readable after ``signal()``.
    package var descriptor: Int32 { file.rawValue }

    /// Wakes the thread from its wait, or from the next one.
    package func signal() { eventfd_write(descriptor, 1) }

    /// Waits for a signal; returns `false` after the given time without one.
    package func wait(milliseconds: Int32) -> Bool {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, milliseconds) > 0
    }

    /// Takes all signals back.
    package func clear() {
        var count: eventfd_t = 0
        eventfd_read(descriptor, &count)
    }
}
