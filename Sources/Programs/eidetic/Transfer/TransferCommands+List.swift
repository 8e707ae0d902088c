import EideticCLI
import EideticCore
import EideticTransfer

extension TransferCommands {
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
            ("url", .string(transfer.url)),
            ("bytes", .integer(transfer.completedBytes)),
            ("total", .optional(transfer.totalBytes)),
            ("attempts", .integer(transfer.attemptCount)),
            ("next_attempt", .optional(transfer.nextAttempt.map(TimeFormat.date))),
            ("reasons", .array(transfer.reasons.map { .string($0.code.name) })),
            ("why", .optional(why(transfer))),
            ("error", .optional(transfer.lastError.isEmpty ? nil : transfer.lastError)),
            ("file", .optional(TaskNote.decode(transfer.note, of: transfer.identifier).text)),
        ])
    }

    private static func text(for transfer: TransferStatus) -> String {
        let columns = [
            Columns.right("\(transfer.identifier)", width: 5), Columns.left(transfer.state.name, width: 9),
            Columns.right(TransferProgressText.text(for: transfer.completedBytes, of: transfer.totalBytes), width: 18),
            TerminalText.sanitized(transfer.url),
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
        case .finished: return "its file waits for \"eidetic transfer watch\""
        case .failed, .cancelled: return "its end waits for \"eidetic transfer watch\""
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
