import EideticSupervision

/// A presenter for programs in a terminal: its foreground process group is in the foreground.
struct TerminalPresenter {
    private let signals: SignalHandlers
    private let isEnabled: Bool
    private var isInBackground: Bool

    init(isEnabled: Bool, signals: SignalHandlers) {
        self.signals = signals
        self.isEnabled = isEnabled && signals.hasTerminal
        isInBackground = self.isEnabled && signals.isJobInBackground
    }

    /// The presentation at the start; `nil` without a terminal.
    var presentation: PresentationMessage? {
        isEnabled ? PresentationMessage(isVisible: !isInBackground, isFocused: !isInBackground) : nil
    }

    /// The time between two looks at the terminal: `fg` sends no signal to a job that runs.
    var interval: Duration? { isInBackground ? .seconds(1) : nil }

    /// Looks at the terminal, and returns the presentation if it has changed.
    mutating func update() -> PresentationMessage? {
        guard isEnabled, signals.isJobInBackground != isInBackground else { return nil }
        isInBackground.toggle()
        return presentation
    }
}
