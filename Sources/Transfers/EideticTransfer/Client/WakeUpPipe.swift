import CLinux
import EideticCore
import Glibc

/// A pipe by which other threads wake a thread that polls.
final class WakeUpPipe: Sendable {
    private let ends: (reader: Int32, writer: Int32)

    init() throws(SystemError) {
        var numbers: [Int32] = [-1, -1]
        guard eidetic_pipe(&numbers) == 0 else { throw SystemError(.socket, errorNumber: errno) }
        ends = (numbers[0], numbers[1])
    }

    deinit {
        close(ends.reader)
        close(ends.writer)
    }

    /// The descriptor that is readable after ``signal()``.
    var descriptor: Int32 { ends.reader }

    func signal() {
        var byte: UInt8 = 1
        // A full pipe wakes the thread as well.
        _ = write(ends.writer, &byte, 1)
    }

    func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(ends.reader, &bytes, bytes.count) == bytes.count {}
    }
}
