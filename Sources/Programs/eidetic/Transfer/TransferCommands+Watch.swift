import EideticCLI
import EideticCore
import EideticTransfer

extension TransferCommands {
    static let watch = Command(
        name: "watch",
        summary: "show transfers until they end, and move the files to their destinations",
        operands: Operands(
            synopsis: "[NUMBER…]",
            help: "the transfers to wait for (default: all of the session)",
            count: 0...Int.max
        ),
        options: [session.definition, CommonOptions.json],
        notes: [
            "An existing file at a destination is replaced. A transfer that was shown is removed from the list. After "
                + "Ctrl-C the transfers continue."
        ],
        run: { arguments in TransferWatch(arguments).run() }
    )
}

/// The run of `eidetic transfer watch`.
private final class TransferWatch: Sendable {
    private struct State {
        /// The numbers of the transfers to wait for.
        var remaining: Set<UInt64> = []
        var failureCount = 0
        var drawnLine = ""
    }

    private let session: String
    private let numbers: [String]
    private let writesJSON: Bool
    private let canceller = TaskCanceller()
    private let state = Guarded(State())
    /// The terminal on which progress is drawn; `nil` if there is none.
    private let terminal: TextStream?

    init(_ arguments: Arguments) {
        session = arguments[TransferCommands.session] ?? "default"
        numbers = arguments.operands
        writesJSON = arguments.contains(CommonOptions.json)
        let candidates: [TextStream] = [.errors, .output]
        terminal = Terminal.supportsRedraw ? candidates.first { $0.isTerminal } : nil
    }

    func run() -> ExitStatus {
        SignalHandler.install { [canceller] in canceller.cancel(exitStatus: $0) }
        canceller.runAndWait { [self] in
            do throws(EideticError) { try await watch() } catch {
                erase()
                Diagnostics.report(error)
                state.withLock { $0.failureCount += 1 }
            }
        }
        erase()
        return canceller.exitStatus ?? (state.withLock { $0.failureCount } == 0 ? .success : .failure)
    }

    private func watch() async throws(EideticError) {
        var configuration = BackgroundURLSession.Configuration(identifier: session)
        configuration.application = TransferCommands.ownApplication
        let session = try BackgroundURLSession(configuration: configuration)
        session.setDestination { $0.taskDescription }
        // No event is delivered before the sequence below exists, so that none can be missed.
        let tasks = try await session.allTasks
        select(among: tasks)
        if state.withLock({ $0.remaining.isEmpty }) { return }
        await showEvents(of: session)
        await session.waitUntilAcknowledged()
    }

    /// Shows the events until all transfers have ended.
    private func showEvents(of session: BackgroundURLSession) async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        // An event is acknowledged by the request of the next one, so that this loop goes on after the last event.
        Task { [events = session.events] in
            for await event in events {
                show(event)
                if state.withLock({ $0.remaining.isEmpty }) { end.finish() }
            }
            end.finish()
        }
        for await _ in ends {}
    }

    private func select(among tasks: [TransferTask]) {
        let known = Set(tasks.compactMap(\.transferNumber))
        guard !numbers.isEmpty else { return state.withLock { $0.remaining = known } }
        for word in numbers {
            if let number = UInt64(word), known.contains(number) {
                state.withLock { _ = $0.remaining.insert(number) }
            } else {
                Diagnostics.report("no transfer \(word) in the session \(session)")
                state.withLock { $0.failureCount += 1 }
            }
        }
    }
}

// MARK: Output
extension TransferWatch {
    private func show(_ event: BackgroundURLSession.Event) {
        switch event {
        case .didComplete(let task, let error): showEnd(of: task, error: error)
        case .didWriteData(let task, let progress): show(progress, of: task)
        case .didSendBodyData(let task, let progress): show(progress, of: task)
        case .didBecomeInvalid(let error?):
            Diagnostics.report(error)
            state.withLock { ($0.failureCount, $0.remaining) = ($0.failureCount + 1, []) }
        default: break
        }
    }

    private func showEnd(of task: TransferTask, error: EideticError?) {
        let number = task.transferNumber ?? 0
        state.withLock { state in
            state.remaining.remove(number)
            if error != nil { state.failureCount += 1 }
        }
        erase()
        if writesJSON { return TextStream.output.write(Array((json(for: task, error: error).text + "\n").utf8)) }
        let url = TerminalText.abbreviated(task.originalRequest.url)
        if let error { return Diagnostics.report(error, of: "\(number): \(url)") }
        let size = ByteCount(Int(clamping: task.progress.completed))
        let place = task.taskDescription.map { " → \(TerminalText.sanitized($0))" } ?? ""
        TextStream.output.writeLine("\(number): \(url): \(task.response?.statusCode ?? 0), \(size)\(place)")
        TextStream.output.flush()
    }

    private func json(for task: TransferTask, error: EideticError?) -> JSON {
        .object([
            ("event", .string("end")),
            ("id", .integer(Int(clamping: task.transferNumber ?? 0))),
            ("url", .url(task.originalRequest.url)),
            ("status", .optional(task.response?.statusCode)),
            ("bytes", .integer(Int(clamping: task.progress.completed))),
            ("file", .optional(task.taskDescription)),
            ("error", error.map { .redacted("\($0)") } ?? .null),
        ])
    }

    private func show(_ progress: TransferProgress, of task: TransferTask) {
        let completed = Int(clamping: progress.completed)
        let total = progress.total.map { Int(clamping: $0) }
        let number = Int(clamping: task.transferNumber ?? 0)
        if writesJSON {
            let object: JSON = .object([
                ("event", .string("progress")),
                ("id", .integer(number)),
                ("bytes", .integer(completed)),
                ("total", .optional(total)),
            ])
            TextStream.output.write(Array((object.text + "\n").utf8))
        } else {
            let others = state.withLock { $0.remaining.count } - 1
            let rest = others > 0 ? ", and \(others) more" : ""
            draw("\(number): \(TransferProgressText.text(for: completed, of: total))\(rest)")
        }
    }

    private func draw(_ line: String) {
        guard let terminal else { return }
        let width = Terminal.size(of: terminal.fileDescriptor).columns - 1
        terminal.write(Array("\r\u{1b}[K\(line.prefix(max(0, width)))".utf8))
        state.withLock { $0.drawnLine = line }
    }

    private func erase() {
        let isDrawn = state.withLock { state in
            defer { state.drawnLine = "" }
            return !state.drawnLine.isEmpty
        }
        if isDrawn { terminal?.write(Array("\r\u{1b}[K".utf8)) }
    }
}
