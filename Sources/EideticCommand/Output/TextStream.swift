import EideticCore
import Glibc

/// Standard output or standard error: whole lines, written in one piece whatever thread they come from.
final class TextStream: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var failure: Int32?
    }

    /// The standard output.
    static let output = TextStream(fileDescriptor: STDOUT_FILENO)
    /// The standard error output.
    static let errors = TextStream(fileDescriptor: STDERR_FILENO)

    /// The system's number for it.
    let fileDescriptor: Int32
    private let state = Guarded(State())

    private init(fileDescriptor number: Int32) { self.fileDescriptor = number }

    /// Whether it is a terminal.
    var isTerminal: Bool { isatty(fileDescriptor) == 1 }

    /// Why nothing can be written any more, as `errno`; `EPIPE` where nobody reads it.
    var failure: Int32? { state.withLock { $0.failure } }

    /// Writes a line; it is kept until 16 KiB have come together, or `flush` is called.
    func writeLine(_ text: String) { write(Array(text.utf8) + [UInt8(ascii: "\n")], bufferLimit: 16 << 10) }

    /// Writes bytes at once.
    func write(_ bytes: [UInt8]) { write(bytes, bufferLimit: 0) }

    /// Writes what is kept.
    func flush() { write([], bufferLimit: 0) }

    private func write(_ bytes: [UInt8], bufferLimit limit: Int) {
        state.withLock { state in
            state.pending += bytes
            guard state.pending.count > limit || limit == 0 else { return }
            if state.failure == nil { state.failure = writeAll(state.pending) }
            state.pending.removeAll(keepingCapacity: true)
        }
    }

    /// Writes all bytes; gives the error that stopped it.
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
