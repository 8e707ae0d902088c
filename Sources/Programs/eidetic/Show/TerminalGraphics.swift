import CChafa
import EideticCLI
import EideticCore

/// A way of displaying images on a terminal.
enum TerminalGraphics: String, Sendable, CaseIterable {
    /// The graphics protocol of the terminal kitty, which several others support.
    case kitty
    /// Sixel graphics, as in DEC's VT340.
    case sixel
    /// Block characters in 24-bit colour, which nearly all terminals support.
    case blocks

    /// Returns the best way that the terminal supports, which its environment variables identify.
    static func detect() -> TerminalGraphics {
        guard TextStream.output.isTerminal else { return .blocks }
        return switch eidetic_chafa_detect() {
        case EIDETIC_CHAFA_KITTY: .kitty
        case EIDETIC_CHAFA_SIXEL: .sixel
        default: .blocks
        }
    }

    /// Throws `notFound` with what to install if images cannot be displayed.
    static func requireLibrary() throws(EideticError) {
        guard let reason = eidetic_chafa_failure() else { return }
        throw EideticError(
            .notFound,
            message: "--show needs libchafa (Debian: apt install libchafa0): \(String(cString: reason))"
        )
    }

    var code: eidetic_chafa_graphics {
        switch self {
        case .kitty: EIDETIC_CHAFA_KITTY
        case .sixel: EIDETIC_CHAFA_SIXEL
        case .blocks: EIDETIC_CHAFA_BLOCKS
        }
    }
}
