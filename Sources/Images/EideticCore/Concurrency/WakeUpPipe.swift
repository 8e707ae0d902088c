import CLinux
import Glibc

/// A pipe by which other threads wake a thread that polls.
package final class WakeUpPipe: Sendable {
    private let reader: FileDescriptor
    private let writer: FileDescriptor

    package init() throws(SystemError) {
        var numbers: [Int32] = [-1, -1]
        guard eidetic_pipe(&numbers) == 0 else { throw SystemError(.socket, errorNumber: errno) }
        reader = FileDescriptor(adopting: numbers[0])
        writer = FileDescriptor(adopting: numbers[1])
    }

    /// The descriptor that is readable after ``signal()``.
    package var descriptor: Int32 { reader.rawValue }

    /// Wakes the thread from its wait, or from the next one.
    package func signal() {
        var byte: UInt8 = 1
        // A full pipe wakes the thread as well.
        _ = write(writer.rawValue, &byte, 1)
    }

    /// Waits for a signal; returns `false` after the given time without one.
    package func wait(milliseconds: Int32) -> Bool {
        var event = pollfd(fd: reader.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, milliseconds) > 0
    }

    /// Takes all signals back.
    package func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(reader.rawValue, &bytes, bytes.count) == bytes.count {}
    }
}
