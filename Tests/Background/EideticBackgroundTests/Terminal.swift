import CTestSupport
import EideticCore
import EideticTestSupport
import Glibc

/// A shell with job control on a pseudo-terminal; the test types its input.
///
/// The shell's descriptor 3 is a pipe to the test, independent of the terminal.
final class Terminal: Sendable {
    let shell: Subprocess
    private let keyboard = Keyboard()

    /// The descriptor of the terminal's other end; negative if it is closed.
    private final class Keyboard: Sendable {
        private let state = Guarded<Int32>(-1)

        var number: Int32 { state.withLock { $0 } }

        /// Sets the descriptor, and returns the one before.
        @discardableResult
        func replace(with number: Int32) -> Int32 {
            state.withLock { state in
                defer { state = number }
                return state
            }
        }
    }

    init() throws(SystemError) {
        var path = [CChar](repeating: 0, count: 128)
        let master = eidetic_test_terminal(&path, path.count)
        guard master >= 0 else { throw SystemError(.open, errorNumber: errno, path: "/dev/ptmx") }
        let name = String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        keyboard.replace(with: master)
        // The first terminal that a session leader opens becomes its controlling terminal.
        let script = "exec 3>&1; exec bash --norc -i <>\(name) >&0 2>&0"
        shell = try Subprocess("setsid", arguments: ["-w", "bash", "-c", script])
        // The terminal's output must be read, or its buffer fills and the shell blocks.
        // A blocked read would keep the terminal open after `close()`.
        Thread.start(name: "screen") { [keyboard] in
            var bytes = [UInt8](repeating: 0, count: 4096)
            while keyboard.number >= 0 {
                var polled = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
                if poll(&polled, 1, 50) > 0, read(master, &bytes, bytes.count) <= 0 { break }
            }
        }
    }

    deinit { close() }

    /// Closes the terminal, as a window does: its processes are sent a hangup.
    func close() {
        let number = keyboard.replace(with: -1)
        if number >= 0 { _ = Glibc.close(number) }
    }

    /// Types keys; a closed terminal has none.
    func type(_ keys: String) {
        _ = keys.withCString { write(keyboard.number, $0, strlen($0)) }
    }
}
