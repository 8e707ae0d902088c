import EideticCore
import EideticTransfer
import EideticTransferEngine
import Glibc

/// An engine on a thread of its own, as the service of one application.
final class EngineService: Sendable {
    private let application: String
    private let inbox: TransferInbox
    /// Fulfilled when the directory can be opened again.
    private let ended: Promise<Void>

    private init(application: String, inbox: TransferInbox, ended: Promise<Void>) {
        self.application = application
        self.inbox = inbox
        self.ended = ended
    }

    deinit { inbox.post { $0.stop() } }

    /// Opens a directory, and starts its engine; throws `refused` if another engine has the directory.
    static func open(
        _ configuration: TransferEngineConfiguration,
        application: String
    ) async throws(EideticError) -> EngineService {
        let inbox = TransferInbox()
        let ended = Promise<Void>()
        let failure = await withCheckedContinuation { (continuation: CheckedContinuation<EideticError?, Never>) in
            Thread.start(name: "transfers") {
                do throws(EideticError) {
                    let engine = try TransferEngine(configuration, inbox: inbox)
                    continuation.resume(returning: nil)
                    engine.run()
                    ended.fulfil(.success(()))
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
        if let failure { throw failure }
        return EngineService(application: application, inbox: inbox, ended: ended)
    }

    /// Makes the engine look at its clock, which a test has changed.
    func clockChanged() { inbox.post { _ in } }

    /// Ends the engine, and returns when the directory can be opened again; what has arrived is kept.
    func close() async {
        inbox.post { $0.stop() }
        _ = try? await ended.value()
    }

    func openSession(_ configuration: TransferSessionConfiguration) async throws(EideticError) {
        _ = try await perform(.openSession(configuration))
    }

    func removeSession(_ identifier: String) async throws(EideticError) {
        _ = try await perform(.removeSession(identifier))
    }

    func add(
        _ requests: [TransferRequest],
        to session: String
    ) async throws(EideticError) -> [TransferIdentifier] {
        var files: [UploadFile] = []
        for case let request in requests where request.kind == .upload {
            files.append(try UploadFile(path: request.filePath ?? ""))
        }
        guard case .added(let transfers) = try await perform(.add(requests, session: session), files: files) else {
            return []
        }
        return transfers
    }

    func transfers(in session: String?) async throws(EideticError) -> [TransferStatus] {
        var all: [TransferStatus] = []
        while true {
            let after = all.last?.identifier ?? TransferIdentifier(0)
            guard case .transfers(let page, let isLast) = try await perform(.list(session: session, after: after))
            else { return all }
            all += page
            if isLast { return all }
        }
    }

    func pause(_ transfers: [TransferIdentifier]) async throws(EideticError) {
        _ = try await perform(.pause(transfers))
    }

    func resume(_ transfers: [TransferIdentifier]) async throws(EideticError) {
        _ = try await perform(.resume(transfers))
    }

    func cancel(_ transfers: [TransferIdentifier], keepsResumeData: Bool) async throws(EideticError) {
        _ = try await perform(.cancel(transfers, keepsResumeData: keepsResumeData))
    }

    func acknowledge(_ events: [UInt64]) async throws(EideticError) {
        _ = try await perform(.acknowledge(events))
    }

    func observe(
        _ session: String,
        handler: @escaping @Sendable (TransferNotification) -> Void
    ) async throws(EideticError) -> TransferObservation {
        let isPosted = inbox.post { [application] in $0.delivery.observe(session, of: application, handler: handler) }
        guard isPosted else { throw .cancelled }
        return TransferObservation {}
    }

    private func perform(
        _ command: TransferCommand,
        files: [UploadFile] = []
    ) async throws(EideticError) -> TransferReply {
        let reply = await withCheckedContinuation { (continuation: CheckedContinuation<TransferReply, Never>) in
            let isPosted = inbox.post { [application] engine in
                engine.perform(command, of: application, files: files) { continuation.resume(returning: $0) }
            }
            if !isPosted { continuation.resume(returning: .failed(code: "cancelled", message: "cancelled")) }
        }
        guard case .failed(let name, let message) = reply else { return reply }
        throw EideticError(EideticError.Code(named: name) ?? .badResponse, message: message)
    }
}
