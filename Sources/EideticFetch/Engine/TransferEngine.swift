import EideticCore

/// Makes exchanges on a thread of its own, as many at once as it is given.
///
/// Who may start when is decided elsewhere; see `TransferScheduler`.
final class TransferEngine: Sendable {
    private let inbox = EngineInbox()

    init(_ options: EngineOptions) {
        let inbox = inbox
        Thread.start(name: options.name) { EngineLoop(inbox, options).run() }
    }

    deinit { _ = inbox.post(.stop) }

    /// Begins an exchange; its completion is called once, whatever happens.
    func start(_ order: TransferOrder) {
        if !inbox.post(.start(order)) { order.completion(.cancelled) }
    }

    /// Ends an exchange as cancelled; no effect where it has ended.
    func cancel(_ id: UInt64) { _ = inbox.post(.cancel(id)) }

    /// Tells the engine anything else.
    func post(_ command: EngineCommand) { _ = inbox.post(command) }
}
