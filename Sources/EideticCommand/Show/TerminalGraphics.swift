/// A way in which a terminal can show pictures.
enum TerminalGraphics: String, Sendable, CaseIterable {
    /// The graphics protocol of the terminal kitty, which several others understand.
    case kitty
    /// Sixel graphics, as DEC's VT340 had them.
    case sixel
    /// Two pixels a character, in 24-bit colour: works nearly everywhere.
    case blocks

    /// The best way that the terminal understands.
    ///
    /// The environment tells of kitty and its like, but not within a multiplexer, which inherits the variables of a
    /// terminal that it hides; else the terminal itself is asked.
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
