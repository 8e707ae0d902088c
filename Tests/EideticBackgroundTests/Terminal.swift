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
        let master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard master >= 0, grantpt(master) == 0, unlockpt(master) == 0, let name = ptsname(master) else {
            throw SystemError(.open, errno, path: "/dev/ptmx")
        }
        keyboard = master
        // The first terminal that the leader of a session opens becomes the session's.
        let script = "exec 3>&1; exec bash --norc -i <>\(String(cString: name)) >&0 2>&0"
        shell = try Subprocess("setsid", ["-w", "bash", "-c", script])
        // Somebody has to look at the screen, or its buffer fills and the shell waits.
        Thread.start(name: "screen") {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while read(master, &bytes, bytes.count) > 0 {}
        }
    }

    deinit { close(keyboard) }

    func type(_ keys: String) { _ = keys.withCString { write(keyboard, $0, strlen($0)) } }
}
