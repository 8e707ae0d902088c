import EideticCLI
import EideticCore
import Glibc

/// The output of a run: a line for each finished URL and, on a terminal, a progress line below them.
///
/// On a terminal, a dedicated thread writes the collected lines and redraws the progress ten times a second. Otherwise
/// lines are written immediately.
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

    /// The time between two redraws, in milliseconds.
    private static let interval: Int32 = 100

    private let state: Guarded<State>
    private let time = SystemTime()
    /// The terminal with the progress line; `nil` if neither stream is a terminal.
    private let terminal: TextStream?
    private let isDrawing = Monitor(false)
    private let wakeUp: WakeUpEvent?

    /// A Boolean value indicating whether lines for people, except errors, and the progress are left out.
    private let isQuiet: Bool

    /// Creates a display for a run of `total` URLs, and starts to redraw.
    init(total: Int, isQuiet: Bool) {
        self.isQuiet = isQuiet
        state = Guarded(State(progress: ProgressLine(total: total, start: SystemTime().uptime)))
        let candidates: [TextStream] = [.errors, .output]
        terminal = Terminal.supportsRedraw && !isQuiet ? candidates.first { $0.isTerminal } : nil
        wakeUp = terminal == nil ? nil : try? WakeUpEvent()
        if wakeUp != nil { startDrawing() }
    }

    /// The results so far.
    var tally: LoadTally { state.withLock { $0.progress.tally } }

    /// Adds `change` to the number of URLs that are being loaded.
    func adjustRunningCount(by change: Int) { state.withLock { $0.progress.runningCount += change } }

    /// Adds to the number of bytes received from the network and to the number of bytes expected in total.
    func addBytes(received: Int, expected: Int) {
        state.withLock { state in
            state.progress.receivedBytes += received
            state.progress.expectedBytes += expected
        }
    }

    /// Records that an image was loaded, but not stored, written, shown or refreshed.
    func addPartialFailure(_ reason: String) { state.withLock { $0.progress.tally.addPartialFailure(reason) } }

    /// Records an output file that exists and was left as it is.
    func addLeftFile() { state.withLock { $0.progress.tally.addLeftFile() } }

    /// Records the outcome of a URL and writes its line.
    ///
    /// - Parameters:
    ///   - outcome: The outcome.
    ///   - graphics: The bytes that display the image on the terminal.
    ///   - asJSON: A Boolean value indicating whether the line is a JSON object.
    func report(_ outcome: LoadOutcome, graphics: [UInt8], asJSON: Bool) {
        state.withLock { $0.progress.tally.add(outcome) }
        var bytes = asJSON ? outcome.json.bytes : Array(outcome.text.utf8)
        bytes.append(UInt8(ascii: "\n"))
        bytes += graphics
        if case .failure(let error) = outcome.result, !asJSON {
            Diagnostics.note(error)
            return write(bytes, to: .errors)
        }
        if asJSON || !isQuiet { write(bytes, to: .output) }
    }

    /// Records an image that an earlier run has written; writes a line for each occurrence only as JSON.
    func reportKept(_ item: LoadArguments.Item, file: String, asJSON: Bool) {
        state.withLock { $0.progress.tally.addKept(count: item.count) }
        guard asJSON else { return }
        let line = JSON.object([("url", .url(item.url)), ("source", .string("kept")), ("file", .string(file))])
            .text
        for _ in 0..<item.count { writeLine(line, to: .output) }
    }

    /// Writes a line above the progress line.
    func writeLine(_ text: String, to stream: TextStream) { write(Array(text.utf8) + [UInt8(ascii: "\n")], to: stream) }

    /// Writes bytes above the progress line.
    func write(_ bytes: [UInt8], to stream: TextStream) {
        guard wakeUp != nil else { return stream.write(bytes) }
        state.withLock { $0.messages.append(Message(stream: stream, bytes: bytes)) }
    }

    /// Removes the progress line and writes all pending output; blocks until that is done.
    func finish() {
        wakeUp?.signal()
        isDrawing.wait { $0 ? nil : () }
    }

    private func startDrawing() {
        isDrawing.withLock { $0 = true }
        Thread.start(name: "display") { [self] in
            while wakeUp?.wait(milliseconds: Self.interval) == false { draw(isLast: false) }
            draw(isLast: true)
            isDrawing.withLock { $0 = false }
            isDrawing.broadcast()
        }
    }

    /// Writes the collected output and the progress line below it.
    private func draw(isLast: Bool) {
        guard let terminal else { return }
        let width = Terminal.size(of: terminal.fileDescriptor).columns - 1
        let (messages, line, isSame) = state.withLock { state in
            let line = isLast ? "" : state.progress.text(at: time.uptime, width: width)
            defer { (state.messages, state.drawnLine) = ([], line) }
            return (state.messages, line, line == state.drawnLine)
        }
        if messages.isEmpty, isSame { return }
        // Moves the cursor to the start of the line, and erases to the end of the screen.
        terminal.write(Array("\r\u{1b}[J".utf8))
        for message in messages { message.stream.write(message.bytes) }
        terminal.write(Array(line.utf8))
    }
}
