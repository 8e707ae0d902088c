import Glibc

/// The properties of the terminal.
enum Terminal {
    /// The size of a terminal in characters, and in pixels if it reports them.
    struct Size: Sendable, Equatable {
        var columns = 80
        var rows = 24
        var width = 0
        var height = 0

        /// The size of one character in pixels; 8 by 16 if the terminal does not report it.
        var cellSize: (width: Int, height: Int) {
            guard width >= columns, height >= rows else { return (8, 16) }
            return (width / columns, height / rows)
        }
    }

    /// Returns the size of an open terminal; 80 by 24 characters for other files.
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

    /// A Boolean value indicating whether the terminal supports the control sequences that redraw a line.
    static var supportsRedraw: Bool { !["", "dumb"].contains(environmentVariable("TERM") ?? "") }

    static func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
