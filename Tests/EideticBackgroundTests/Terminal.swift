import CTestSupport
import EideticCore
import EideticTestSupport
import Glibc

/// A shell with job control on a pseudo-terminal; the test types its input.
///
/// The shell's descriptor 3 is a pipe to the test, independent of the terminal.
final class Terminal: Sendable {
    let shell: Subprocess
    private let keyboard: Int32

    init() throws(SystemError) {
        var path = [CChar](repeating: 0, count: 128)
        let master = eidetic_test_terminal(&path, path.count)
        guard master >= 0 else { throw SystemError(.open, errorNumber: errno, path: "/dev/ptmx") }
        let name = String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        keyboard = master
        // The first terminal that a session leader opens becomes its controlling terminal.
        let script = "exec 3>&1; exec bash --norc -i <>\(name) >&0 2>&0"
        shell = try Subprocess("setsid", arguments: ["-w", "bash", "-c", script])
        // The terminal's output must be read, or its buffer fills and the shell blocks.
        Thread.start(name: "screen") {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while read(master, &bytes, bytes.count) > 0 {}
        }
    }

    deinit { close(keyboard) }

    func type(_ keys: String) { _ = keys.withCString { write(keyboard, $0, strlen($0)) } }
}
