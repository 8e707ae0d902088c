import EideticCore
import Glibc

/// Standard output or standard error; lines of different threads are not mixed.
package final class TextStream: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var failure: Int32?
    }

    package static let output = TextStream(fileDescriptor: STDOUT_FILENO)
    package static let errors = TextStream(fileDescriptor: STDERR_FILENO)

    package let fileDescriptor: Int32
    private let state = Guarded(State())

    private init(fileDescriptor number: Int32) { self.fileDescriptor = number }

    package var isTerminal: Bool { isatty(fileDescriptor) == 1 }

    /// The `errno` of the first failed write, after which nothing is written; `EPIPE` for a closed pipe.
    package var failure: Int32? { state.withLock { $0.failure } }

    /// Writes a line to a buffer of 16 KiB.
    package func writeLine(_ text: String) { write(Array(text.utf8) + [UInt8(ascii: "\n")], bufferLimit: 16 << 10) }

    /// Writes the buffer and the bytes immediately.
    package func write(_ bytes: [UInt8]) { write(bytes, bufferLimit: 0) }

    package func flush() { write([], bufferLimit: 0) }

    private func write(_ bytes: [UInt8], bufferLimit limit: Int) {
        state.withLock { state in
            state.pending += bytes
            guard state.pending.count > limit || limit == 0 else { return }
            if state.failure == nil { state.failure = writeAll(state.pending) }
            state.pending.removeAll(keepingCapacity: true)
        }
    }

    /// Writes all bytes; returns the `errno` if that fails.
    private func writeAll(_ bytes: [UInt8]) -> Int32? {
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                Glibc.write(fileDescriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done)
            }
            if written >= 0 {
                done += written
            } else if errno == EAGAIN {
                var ready = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}
