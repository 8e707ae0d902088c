import Glibc

/// The terminal to which a program writes.
enum Terminal {
    /// Its size in characters, and in pixels where it tells.
    struct Size: Sendable, Equatable {
        var columns = 80
        var rows = 24
        var width = 0
        var height = 0

        /// The size of one character in pixels; 8 by 16 where the terminal does not tell.
        var cellSize: (width: Int, height: Int) {
            guard width >= columns, height >= rows else { return (8, 16) }
            return (width / columns, height / rows)
        }
    }

    /// Asks an open terminal for its size; 80 by 24 characters where it is none.
    static func size(of number: Int32 = STDOUT_FILENO) -> Size {
        var window = winsize()
        guard ioctl(number, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else { return Size() }
        return Size(
            columns: Int(window.ws_col),
            rows: Int(window.ws_row),
            width: Int(window.ws_xpixel),
            height: Int(window.ws_ypixel)
        )
    }

    /// Whether it understands the few control sequences by which a line is drawn again.
    static var supportsRedraw: Bool { !["", "dumb"].contains(environmentVariable("TERM") ?? "") }

    /// A variable of the environment.
    static func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
