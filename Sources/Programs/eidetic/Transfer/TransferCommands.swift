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

    /// The name of the session of transfers.
    static let session = TypedOption<String>(
        "session",
        placeholder: "NAME",
        expecting: "letters, digits, '.', '-' and '_'",
        help: "the session of the transfers (default: default)",
        parse: { (try? BackgroundURLSession.Configuration(identifier: $0).validate()) == nil ? nil : $0 }
    )

    /// The application to which the transfers belong.
    static let application = TypedOption<String>(
        "application",
        placeholder: "NAME",
        expecting: "a name of 1 to 200 bytes",
        help: "the application that owns the transfers (default: eidetic)",
        parse: { (1...200).contains($0.utf8.count) ? $0 : nil }
    )

    /// The name under which this program has its transfers, however its file is called.
    static let ownApplication = "eidetic"

    /// The operands of commands on transfers.
    static let transferOperands = Operands(
        synopsis: "NUMBER…",
        help: "the numbers of the transfers, as \"eidetic transfer list\" shows them",
        count: 1...Int.max,
        completion: .nothing
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
                        Diagnostics.report(error.message)
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
