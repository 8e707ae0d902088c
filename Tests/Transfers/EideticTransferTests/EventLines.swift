import EideticCore
import EideticTestSupport
import Glibc

/// The lines that applications write to a FIFO, and those that a test adds, in the order of their arrival.
final class EventLines: Sendable {
    private struct State {
        var lines: [String] = []
        var waiters: [(condition: @Sendable ([String]) -> Bool, gate: Gate)] = []
    }

    private let state = Guarded(State())
    private let descriptor: Int32

    /// Creates the FIFO, and reads it on a thread of its own.
    init(at path: String) throws {
        // Open for writing too, so that it does not end with the last application.
        guard mkfifo(path, 0o600) == 0, case let number = open(path, O_RDWR | O_CLOEXEC), number >= 0 else {
            throw SystemError(.open, errorNumber: errno, path: path)
        }
        descriptor = number
        Thread.start(name: "lines") { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 65_536), rest = ""
            while case let count = read(number, &buffer, buffer.count), count > 0 {
                rest += String(decoding: buffer[..<count], as: UTF8.self)
                while let end = rest.firstIndex(of: "\n") {
                    let line = String(rest[..<end])
                    rest.removeSubrange(...end)
                    if line == Self.end { break }
                    self?.add(line)
                }
                if self == nil { break }
            }
            close(number)
        }
    }

    /// Wakes the thread, which ends and closes the FIFO.
    deinit { _ = "\(Self.end)\n".withCString { write(descriptor, $0, strlen($0)) } }

    private static let end = "end of lines"

    var lines: [String] { state.withLock { $0.lines } }

    func add(_ line: String) {
        let gates = state.withLock { state in
            state.lines.append(line)
            let lines = state.lines
            let reached = state.waiters.filter { $0.condition(lines) }
            state.waiters.removeAll { $0.condition(lines) }
            return reached.map(\.gate)
        }
        for gate in gates { gate.open() }
    }

    /// Waits until the lines satisfy a condition.
    func wait(until condition: @escaping @Sendable ([String]) -> Bool) async {
        let gate = Gate()
        let isReached = state.withLock { state in
            if condition(state.lines) { return true }
            state.waiters.append((condition, gate))
            return false
        }
        if !isReached { await gate.wait() }
    }

    /// Waits until the lines satisfy a condition; returns `false` if they do not within a time, after which the test
    /// has failed, and says why.
    func wait(atMost limit: Duration, until condition: @escaping @Sendable ([String]) -> Bool) async -> Bool {
        let end = Guarded(false)
        let timer = Task {
            try await Task.sleep(for: limit)
            end.withLock { $0 = true }
            add(Self.timeLimit)
        }
        await wait { lines in condition(lines) || end.withLock { $0 } }
        timer.cancel()
        return condition(lines)
    }

    private static let timeLimit = "the time has passed"
}
