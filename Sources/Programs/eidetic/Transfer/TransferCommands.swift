import EideticCLI
import EideticCore
import EideticTransfer

/// The commands `eidetic transfer …`, which manage background transfers.
enum TransferCommands {
    static let command = Command(
        name: "transfer",
        summary: "download and upload in the background",
        notes: [
            "eidetic-transferd performs the transfers, and is started on demand. They continue after this program "
                + "has ended, and after eidetic-transferd itself was killed. \"eidetic transfer watch\" moves the files of "
                + "finished downloads to their destinations."
        ],
        subcommands: [add, list, watch, cancel, pause, resume]
    )

    static let session = TypedOption<String>(
        "session",
        placeholder: "NAME",
        expecting: "letters, digits, '.', '-' and '_'",
        help: "the session of the transfers (default: default)",
        parse: { (try? BackgroundURLSession.Configuration(identifier: $0).validate()) == nil ? nil : $0 }
    )

    static let application = TypedOption<String>(
        "application",
        placeholder: "NAME",
        expecting: "a name of 1 to 200 bytes",
        help: "the application that owns the transfers (default: eidetic)",
        parse: { (1...200).contains($0.utf8.count) ? $0 : nil }
    )

    /// The name under which this program has its transfers, however its file is called.
    static let ownApplication = "eidetic"

    static let transferOperands = Operands(
        synopsis: "NUMBER…",
        help: "the numbers of the transfers, as \"eidetic transfer list\" shows them"
    )

    /// Creates a command that connects to the transfer process, and reports errors.
    static func makeCommand(
        _ name: String,
        summary: String,
        operands: Operands = .none,
        options: [Option] = [],
        notes: [String] = [],
        run: @escaping @Sendable (TransferClient, Arguments) async throws(EideticError) -> ExitStatus
    ) -> Command {
        Command(
            name: name,
            summary: summary,
            operands: operands,
            options: options,
            notes: notes,
            run: { arguments in
                let status = Guarded(ExitStatus.failure)
                let canceller = TaskCanceller()
                SignalHandler.install { canceller.cancel(exitStatus: $0) }
                canceller.runAndWait {
                    do throws(EideticError) {
                        let connection = try await connect(as: arguments[application] ?? ownApplication)
                        let result = try await run(connection, arguments)
                        status.withLock { $0 = result }
                    } catch {
                        Diagnostics.report(error)
                    }
                }
                return canceller.exitStatus ?? status.withLock { $0 }
            }
        )
    }

    private static func connect(as application: String) async throws(EideticError) -> TransferClient {
        let location = ServiceLocation.standard
        if let connection = try await TransferProcess.connect(at: location, application: application) {
            return connection
        }
        throw EideticError(
            .notFound,
            message: "eidetic-transferd is not running, and not installed beside this program, in ../libexec or in PATH"
                + "; it is in the package \(InstalledProgram.backgroundPackage)"
        )
    }

    static let list = makeCommand(
        "list",
        summary: "list transfers, with the reason why each one waits",
        options: [session.definition, application.definition, CommonOptions.json]
    ) { service, arguments throws(EideticError) in
        let transfers = try await service.transfers(in: arguments[session])
        reportDamage()
        for transfer in transfers where TextStream.output.failure == nil {
            let asJSON = arguments.contains(CommonOptions.json)
            TextStream.output.writeLine(asJSON ? json(for: transfer).text : text(for: transfer))
        }
        return .success
    }

    /// Reports the file of damaged records that the transfer process has set aside, until it is removed.
    private static func reportDamage() {
        guard let directory = ServiceLocation.standard.directory else { return }
        let file = "\(directory)/journal.damaged"
        guard (try? FileSystem().status(of: file)) != nil else { return }
        let loss = "damaged records of the journal; transfers that only these recorded are lost"
        Diagnostics.report("\(file): \(loss). Remove the file to end this message")
    }

    private static func json(for transfer: TransferStatus) -> JSON {
        .object([
            ("id", .integer(Int(clamping: transfer.identifier.rawValue))),
            ("session", .string(transfer.session)),
            ("state", .string(transfer.state.name)),
            ("kind", .string("\(transfer.kind)")),
            ("url", .url(transfer.url)),
            ("bytes", .integer(transfer.completedBytes)),
            ("total", .optional(transfer.totalBytes)),
            ("attempts", .integer(transfer.attemptCount)),
            ("next_attempt", .optional(transfer.nextAttempt.map(TimeFormat.date))),
            ("reasons", .array(transfer.reasons.map { .string($0.code.name) })),
            ("why", .optional(why(transfer))),
            ("error", transfer.lastError.isEmpty ? .null : .redacted(transfer.lastError)),
            ("file", .optional(TaskNote.decode(transfer.note, of: transfer.identifier).text)),
        ])
    }

    private static func text(for transfer: TransferStatus) -> String {
        let columns = [
            Columns.right("\(transfer.identifier)", width: 5), Columns.left(transfer.state.name, width: 9),
            Columns.right(TransferProgressText.text(for: transfer.completedBytes, of: transfer.totalBytes), width: 18),
            TerminalText.abbreviated(transfer.url),
        ]
        let line = columns.joined(separator: "  ")
        return why(transfer).map { "\(line)  (\(TerminalText.sanitized($0)))" } ?? line
    }

    /// Returns the reason for which a transfer does not move now; `nil` if it does.
    private static func why(_ transfer: TransferStatus) -> String? {
        switch transfer.state {
        case .running: return nil
        case .paused: return "paused; \"eidetic transfer resume \(transfer.identifier)\" resumes it"
        case .waiting:
            let reasons = transfer.reasons.map(\.text).joined(separator: "; ")
            return reasons.isEmpty ? "it starts soon" : reasons
        case .finished:
            return "its \(transfer.kind == .download ? "file" : "answer") waits for \"eidetic transfer watch\""
        case .failed, .cancelled: return "its end waits for \"eidetic transfer watch\""
        }
    }
}

// MARK: Changes
extension TransferCommands {
    static let cancel = makeChange("cancel", summary: "cancel transfers, and delete the received bytes") {
        service,
        transfers throws(EideticError) in
        try await service.cancel(transfers, keepsResumeData: false)
    }

    static let pause = makeChange("pause", summary: "pause transfers, and keep the received bytes") {
        service,
        transfers throws(EideticError) in
        try await service.pause(transfers)
    }

    static let resume = makeChange("resume", summary: "resume paused transfers, and retry waiting ones now") {
        service,
        transfers throws(EideticError) in
        try await service.resume(transfers)
    }

    private static func makeChange(
        _ name: String,
        summary: String,
        perform: @escaping @Sendable (TransferClient, [TransferIdentifier]) async throws(EideticError) -> Void
    ) -> Command {
        makeCommand(name, summary: summary, operands: transferOperands, options: [application.definition]) {
            service,
            arguments throws(EideticError) in
            let known = Set(try await service.transfers(in: nil).filter { !$0.state.isTerminal }.map(\.identifier))
            var transfers: [TransferIdentifier] = []
            var status = ExitStatus.success
            for word in arguments.operands {
                if let number = UInt64(word), known.contains(TransferIdentifier(number)) {
                    transfers.append(TransferIdentifier(number))
                } else {
                    Diagnostics.report("no transfer \(word) that has not ended")
                    status = .failure
                }
            }
            if !transfers.isEmpty { try await perform(service, transfers) }
            return status
        }
    }
}

/// The text form of a transfer's progress.
enum TransferProgressText {
    /// Returns a progress such as `2.1 MB of 4 MB`.
    static func text(for completed: Int, of total: Int?) -> String {
        total.map { "\(ByteCount(completed)) of \(ByteCount($0))" } ?? "\(ByteCount(completed))"
    }
}
