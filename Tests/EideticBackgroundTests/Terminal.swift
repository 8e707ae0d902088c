import CTestSupport
import EideticCore
import EideticTestSupport
import Glibc

/// A real shell with job control on a pseudo-terminal of its own; the test is its keyboard.
///
/// The shell's descriptor 3 leads to the test, past the terminal.
final class Terminal: Sendable {
    let shell: Subprocess
    private let keyboard: Int32

    init() throws(SystemError) {
        var path = [CChar](repeating: 0, count: 128)
        let master = eidetic_test_terminal(&path, path.count)
        guard master >= 0 else { throw SystemError(.open, errorNumber: errno, path: "/dev/ptmx") }
        let name = String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        keyboard = master
        // The first terminal that the leader of a session opens becomes the session's.
        let script = "exec 3>&1; exec bash --norc -i <>\(name) >&0 2>&0"
        shell = try Subprocess("setsid", arguments: ["-w", "bash", "-c", script])
        // Somebody has to look at the screen, or its buffer fills and the shell waits.
        Thread.start(name: "screen") {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while read(master, &bytes, bytes.count) > 0 {}
        }
    }

    deinit { close(keyboard) }

    func type(_ keys: String) { _ = keys.withCString { write(keyboard, $0, strlen($0)) } }
}
