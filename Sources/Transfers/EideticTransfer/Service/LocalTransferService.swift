package import EideticCore
import Glibc

/// Performs transfers in this process, on a thread of its own: they stop with the process, and continue with the next.
package final class LocalTransferService: TransferService {
    private let application: String
    private let inbox: EngineInbox
    /// Fulfilled when the directory can be opened again.
    let ended: Promise<Void>

    package var isOutOfProcess: Bool { false }

    private init(application: String, inbox: EngineInbox, ended: Promise<Void>) {
        (self.application, self.inbox, self.ended) = (application, inbox, ended)
    }

    deinit { inbox.post { $0.stop() } }

    /// Opens a directory.
    ///
    /// - Parameters:
    ///   - configuration: The directory and the settings.
    ///   - application: The name of the application, which the transfers belong to.
    /// - Returns: The service, whose engine runs.
    /// - Throws: `refused` if another process has the directory; an error of the file system.
    package static func open(
        _ configuration: TransferEngineConfiguration,
        application: String
    ) async throws(EideticError) -> LocalTransferService {
        let inbox = EngineInbox(), ended = Promise<Void>()
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<EideticError?, Never>) in
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
        if let result { throw result }
        return LocalTransferService(application: application, inbox: inbox, ended: ended)
    }

    /// Makes the engine look at its clock, which a test has changed.
    package func clockChanged() { inbox.post { _ in } }

    /// Ends the engine; what has arrived is kept.
    ///
    /// Returns after the directory can be opened again.
    package func close() async {
        await withCheckedContinuation { continuation in
            // The last work is done while the engine stops; what is posted after it is refused.
            let isPosted = inbox.post { engine in
                engine.onStop = { continuation.resume() }
                engine.stop()
            }
            if !isPosted { continuation.resume() }
        }
    }

    package func openSession(_ configuration: TransferSessionConfiguration) async throws(EideticError) {
        _ = try await perform(.openSession(configuration))
    }

    package func removeSession(_ identifier: String) async throws(EideticError) {
        _ = try await perform(.removeSession(identifier))
    }

    package func add(
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

    package func transfers(in session: String?) async throws(EideticError) -> [TransferStatus] {
        var all: [TransferStatus] = []
        while true {
            let after = all.last?.identifier ?? TransferIdentifier(0)
            guard case .transfers(let page, let isLast) = try await perform(.list(session: session, after: after))
            else { return all }
            all += page
            if isLast { return all }
        }
    }

    package func sessions() async throws(EideticError) -> [TransferSessionConfiguration] {
        if case .sessions(let sessions) = try await perform(.sessions) { sessions } else { [] }
    }

    package func pause(_ transfers: [TransferIdentifier]) async throws(EideticError) {
        _ = try await perform(.pause(transfers))
    }

    package func resume(_ transfers: [TransferIdentifier]) async throws(EideticError) {
        _ = try await perform(.resume(transfers))
    }

    package func cancel(_ transfers: [TransferIdentifier], keepsResumeData: Bool) async throws(EideticError) {
        _ = try await perform(.cancel(transfers, keepsResumeData: keepsResumeData))
    }

    package func acknowledge(_ events: [UInt64]) async throws(EideticError) {
        _ = try await perform(.acknowledge(events))
    }

    package func openFile(of transfer: TransferIdentifier) async throws(EideticError) -> FileDescriptor {
        let box = Guarded<Int32>(-1)
        _ = try await perform(.openFile(transfer)) { number in box.withLock { $0 = number } }
        return FileDescriptor(adopting: box.withLock { $0 })
    }

    package func observe(
        _ session: String,
        handler: @escaping @Sendable (TransferNotification) -> Void
    ) async throws(EideticError) -> TransferObservation {
        let inbox = inbox
        let token = ObservationToken()
        let failure = await withCheckedContinuation { (continuation: CheckedContinuation<EideticError?, Never>) in
            let isPosted = inbox.post { [application] engine in
                continuation.resume(returning: engine.observe(session, of: application, token: token, handler: handler))
            }
            if !isPosted { continuation.resume(returning: .cancelled) }
        }
        if let failure { throw failure }
        return TransferObservation { inbox.post { $0.endObservation(token) } }
    }

    private func perform(
        _ command: TransferCommand,
        files: [UploadFile] = [],
        onFile: @escaping @Sendable (Int32) -> Void = { _ = Glibc.close($0) }
    ) async throws(EideticError) -> TransferReply {
        let reply = await withCheckedContinuation { (continuation: CheckedContinuation<TransferReply, Never>) in
            let isPosted = inbox.post { [application] engine in
                engine.perform(command, of: application, files: files) { reply, file in
                    if let file { onFile(file.relinquish()) }
                    continuation.resume(returning: reply)
                }
            }
            if !isPosted { continuation.resume(returning: .failed(code: "cancelled", message: "cancelled")) }
        }
        if case .failed(let code, let message) = reply { throw EideticError(wireCode: code, message: message) }
        return reply
    }
}

/// Identifies an observation.
final class ObservationToken: Sendable {}

extension TransferEngine {
    fileprivate func observe(
        _ session: String,
        of application: String,
        token: ObservationToken,
        handler: @escaping @Sendable (TransferNotification) -> Void
    ) -> EideticError? {
        do throws(EideticError) {
            let session = try store.session(session, of: store.application(named: application))
            let observer = Observer(handler: handler, canReceive: { true })
            tokens[ObjectIdentifier(token)] = (token, observer, session.number)
            addObserver(observer, of: session)
            return nil
        } catch {
            return error
        }
    }

    fileprivate func endObservation(_ token: ObservationToken) {
        guard let entry = tokens.removeValue(forKey: ObjectIdentifier(token)) else { return }
        removeObserver(entry.observer, of: entry.session)
    }
}

extension EideticError {
    /// Creates an error that was sent by the transfer process.
    package init(wireCode name: String, message: String) {
        let code = Code.known.first { $0.description == name } ?? .badResponse
        self.init(code, message: message)
    }
}

extension EideticError.Code {
    /// The kinds of errors that the transfer process sends.
    fileprivate static let known: [Self] = [
        .invalidURL, .invalidArgument, .cancelled, .refused, .hostNotFound, .connectionRefused, .connectionLost,
        .timedOut, .tlsFailure, .httpStatus, .badRedirect, .lengthMismatch, .badResponse, .limitExceeded, .outOfMemory,
        .diskFull, .permissionDenied, .notFound, .fileFailure, .cacheUnavailable,
    ]
}
