import EideticCore
import Glibc

/// Shows how a run goes: a line for each URL as it is done, and on a terminal a line at the bottom that is drawn again
/// and again.
///
/// On a terminal a thread of its own writes ten times a second what has come together since; else lines are written at
/// once.
final class ProgressDisplay: Sendable {
    private struct Message: Sendable {
        let stream: TextStream
        let bytes: [UInt8]
    }

    private struct State {
        var progress: ProgressLine
        var messages: [Message] = []
        var drawnLine = ""
    }

    /// Ten redraws a second, in milliseconds.
    private static let interval: Int32 = 100

    private let state: Guarded<State>
    private let time = SystemTime()
    /// Where the line is drawn; `nil` where no terminal is.
    private let terminal: TextStream?
    private let isDrawing = Monitor(false)
    private let wakeup: WakeupPipe?

    /// Begins to show a run of so many URLs.
    init(total: Int) {
        state = Guarded(State(progress: ProgressLine(total: total, start: SystemTime().uptime)))
        let candidates: [TextStream] = [.errors, .output]
        terminal = Terminal.supportsRedraw ? candidates.first { $0.isTerminal } : nil
        wakeup = terminal == nil ? nil : WakeupPipe()
        if wakeup != nil { startDrawing() }
    }

    /// What has been done so far.
    var tally: LoadTally { state.withLock { $0.progress.tally } }

    /// Notes that a URL's turn has come, or that it is over.
    func adjustRunningCount(by change: Int) { state.withLock { $0.progress.runningCount += change } }

    /// Notes how many more bytes came over the network, and how many more there will be in all.
    func addBytes(received: Int, expected: Int) {
        state.withLock { state in
            state.progress.receivedBytes += received
            state.progress.expectedBytes += expected
        }
    }

    /// Notes a picture that was loaded, but not all that was wanted was done with it.
    func addPartialFailure(_ reason: String) { state.withLock { $0.progress.tally.addPartialFailure(reason) } }

    /// Notes that a URL is done, and shows how; `picture` is what shows it on the terminal.
    func report(_ outcome: LoadOutcome, graphics: [UInt8], asJSON: Bool) {
        state.withLock { $0.progress.tally.add(outcome) }
        let text = asJSON ? outcome.json.text : outcome.text
        let bytes = Array(text.utf8) + [UInt8(ascii: "\n")] + graphics
        if case .failure = outcome.result, !asJSON { write(bytes, to: .errors) } else { write(bytes, to: .output) }
    }

    /// Writes a line above the progress.
    func writeLine(_ text: String, to stream: TextStream) { write(Array(text.utf8) + [UInt8(ascii: "\n")], to: stream) }

    /// Writes bytes above the progress.
    func write(_ bytes: [UInt8], to stream: TextStream) {
        guard wakeup != nil else { return stream.write(bytes) }
        state.withLock { $0.messages.append(Message(stream: stream, bytes: bytes)) }
    }

    /// Takes the progress away and writes what is left to be written; blocks for some microseconds.
    func finish() {
        wakeup?.wake()
        isDrawing.wait { $0 ? nil : () }
    }

    private func startDrawing() {
        isDrawing.withLock { $0 = true }
        Thread.start(name: "display") { [self] in
            while wakeup?.wait(milliseconds: Self.interval) == false { draw(isLast: false) }
            draw(isLast: true)
            isDrawing.withLock { $0 = false }
            isDrawing.broadcast()
        }
    }

    /// Writes what has come together, and the line below it.
    private func draw(isLast: Bool) {
        guard let terminal else { return }
        let width = Terminal.size(of: terminal.fileDescriptor).columns - 1
        let (messages, line, isSame) = state.withLock { state in
            let line = isLast ? "" : state.progress.text(at: time.uptime, width: width)
            defer { (state.messages, state.drawnLine) = ([], line) }
            return (state.messages, line, line == state.drawnLine)
        }
        if messages.isEmpty, isSame { return }
        // To the line's start, and erase to the screen's end.
        terminal.write(Array("\r\u{1b}[J".utf8))
        for message in messages { message.stream.write(message.bytes) }
        terminal.write(Array(line.utf8))
    }
}
