import EideticCore
import Glibc

/// Shows how a run goes: a line for each URL as it is done, and on a terminal a line at the bottom that is drawn again
/// and again.
///
/// On a terminal a thread of its own writes ten times a second what has come together since; else lines are written at
/// once.
final class LoadDisplay: Sendable {
    private struct Message: Sendable {
        let stream: TextStream
        let bytes: [UInt8]
    }

    private struct State {
        var progress: ProgressLine
        var messages: [Message] = []
        var shown = ""
    }

    /// Ten redraws a second, in milliseconds.
    private static let interval: Int32 = 100

    private let state: Guarded<State>
    private let time = SystemTime()
    /// Where the line is drawn; `nil` where no terminal is.
    private let terminal: TextStream?
    private let drawing = Monitor(false)
    private let wakeup: WakeupPipe?

    /// Begins to show a run of so many URLs.
    init(total: Int) {
        state = Guarded(State(progress: ProgressLine(total: total, start: SystemTime().uptime)))
        let candidates: [TextStream] = [.errors, .output]
        terminal = Terminal.canRedraw ? candidates.first { $0.isTerminal } : nil
        wakeup = terminal == nil ? nil : WakeupPipe()
        if wakeup != nil { startDrawing() }
    }

    /// What has been done so far.
    var tally: LoadTally { state.withLock { $0.progress.tally } }

    /// Notes that a URL's turn has come, or that it is over.
    func countRunning(_ change: Int) { state.withLock { $0.progress.running += change } }

    /// Notes how many more bytes came over the network, and how many more there will be in all.
    func transferred(_ received: Int, announced: Int) {
        state.withLock { state in
            state.progress.received += received
            state.progress.announced += announced
        }
    }

    /// Notes a picture that was loaded, but not all that was wanted was done with it.
    func flaw(_ reason: String) { state.withLock { $0.progress.tally.countFlaw(reason) } }

    /// Notes that a URL is done, and shows how; `picture` is what shows it on the terminal.
    func finished(_ outcome: LoadOutcome, picture: [UInt8], asJSON: Bool) {
        state.withLock { $0.progress.tally.count(outcome) }
        let text = asJSON ? outcome.json.text : outcome.text
        let bytes = Array(text.utf8) + [UInt8(ascii: "\n")] + picture
        if case .failure = outcome.result, !asJSON { write(bytes, on: .errors) } else { write(bytes, on: .output) }
    }

    /// Writes a line above the progress.
    func line(_ text: String, on stream: TextStream) { write(Array(text.utf8) + [UInt8(ascii: "\n")], on: stream) }

    /// Writes bytes above the progress.
    func write(_ bytes: [UInt8], on stream: TextStream) {
        guard wakeup != nil else { return stream.write(bytes) }
        state.withLock { $0.messages.append(Message(stream: stream, bytes: bytes)) }
    }

    /// Takes the progress away and writes what is left to be written; blocks for some microseconds.
    func end() {
        wakeup?.wake()
        drawing.wait { $0 ? nil : () }
    }

    private func startDrawing() {
        drawing.withLock { $0 = true }
        Thread.start(name: "display") { [self] in
            while wakeup?.wait(milliseconds: Self.interval) == false { draw(isLast: false) }
            draw(isLast: true)
            drawing.withLock { $0 = false }
            drawing.broadcast()
        }
    }

    /// Writes what has come together, and the line below it.
    private func draw(isLast: Bool) {
        guard let terminal else { return }
        let width = Terminal.size(terminal.number).columns - 1
        let (messages, line, isSame) = state.withLock { state in
            let line = isLast ? "" : state.progress.text(at: time.uptime, width: width)
            defer { (state.messages, state.shown) = ([], line) }
            return (state.messages, line, line == state.shown)
        }
        if messages.isEmpty, isSame { return }
        // To the line's start, and erase to the screen's end.
        terminal.write(Array("\r\u{1b}[J".utf8))
        for message in messages { message.stream.write(message.bytes) }
        terminal.write(Array(line.utf8))
    }
}
