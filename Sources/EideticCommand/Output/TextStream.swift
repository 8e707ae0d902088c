import EideticCore
import Glibc

/// Standard output or standard error: whole lines, written in one piece whatever thread they come from.
final class TextStream: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var failure: Int32?
    }

    /// The standard output.
    static let output = TextStream(STDOUT_FILENO)
    /// The standard error output.
    static let errors = TextStream(STDERR_FILENO)

    /// The system's number for it.
    let number: Int32
    private let state = Guarded(State())

    private init(_ number: Int32) { self.number = number }

    /// Whether it is a terminal.
    var isTerminal: Bool { isatty(number) == 1 }

    /// Why nothing can be written any more, as `errno`; `EPIPE` where nobody reads it.
    var failure: Int32? { state.withLock { $0.failure } }

    /// Writes a line; it is kept until 16 KiB have come together, or `flush` is called.
    func line(_ text: String) { write(Array(text.utf8) + [UInt8(ascii: "\n")], flushing: 16 << 10) }

    /// Writes bytes at once.
    func write(_ bytes: [UInt8]) { write(bytes, flushing: 0) }

    /// Writes what is kept.
    func flush() { write([], flushing: 0) }

    private func write(_ bytes: [UInt8], flushing limit: Int) {
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
                Glibc.write(number, buffer.baseAddress.map { $0 + done }, buffer.count - done)
            }
            if written >= 0 {
                done += written
            } else if errno == EAGAIN {
                var ready = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}
