import EideticCLI

/// A way of displaying images on a terminal.
enum TerminalGraphics: String, Sendable, CaseIterable {
    /// The graphics protocol of the terminal kitty, which several others support.
    case kitty
    /// Sixel graphics, as in DEC's VT340.
    case sixel
    /// Half-block characters in 24-bit colour, two pixels each, which nearly all terminals support.
    case blocks

    /// Returns the best way that the terminal supports.
    ///
    /// Environment variables identify kitty and similar terminals, except in a multiplexer, which inherits the
    /// variables of the terminal that it runs in. Otherwise the terminal is queried.
    static func detect() -> TerminalGraphics {
        guard TextStream.output.isTerminal else { return .blocks }
        let name = Terminal.environmentVariable("TERM") ?? ""
        let isHidden = Terminal.environmentVariable("TMUX") != nil || name.hasPrefix("screen") || name.hasPrefix("tmux")
        if !isHidden, supportsKitty(name) { return .kitty }
        return TerminalQuery.detectGraphics()
    }

    private static func supportsKitty(_ terminal: String) -> Bool {
        let programs = ["ghostty", "WezTerm"]
        return terminal.contains("kitty") || terminal.contains("ghostty")
            || Terminal.environmentVariable("KITTY_WINDOW_ID") != nil
            || programs.contains(Terminal.environmentVariable("TERM_PROGRAM") ?? "")
    }
}
