import EideticCore
package import EideticTransfer
import Glibc

extension TransferEngine {
    package typealias ReplyHandler = (TransferReply) -> Void

    /// Performs a command of an application.
    ///
    /// - Parameters:
    ///   - command: Any command except `hello`, `observe` and `endObservation`.
    ///   - application: The name of the application.
    ///   - files: The files to upload, one for each upload of `add`, which are copied first.
    ///   - uploads: Their copies, if they were copied before.
    ///   - reply: Called once, on the engine's thread, when the change is safe.
    package func perform(
        _ command: TransferCommand,
        of application: String,
        files: [UploadFile] = [],
        uploads: [UploadCopy] = [],
        reply: @escaping ReplyHandler
    ) {
        guard files.isEmpty else { return copy(files, for: command, of: application, reply: reply) }
        let application = store.application(named: application)
        do throws(EideticError) {
            let result = try execute(command, of: application, uploads: uploads)
            guard command.isChange else {
                // A transfer that is not safe yet may be unknown after a kill; nobody must have been told of it.
                guard commits.hasUnsafeChanges(at: time.uptime) else { return reply(result) }
                return commits.afterAttempt { reply(result) }
            }
            commits.afterCommit { failure in
                let failed = failure.map { TransferReply.failed(code: $0.code.description, message: $0.message) }
                reply(failed ?? result)
            }
        } catch {
            for upload in uploads { fileSystem.removeIfPresent(upload.path) }
            reply(.failed(code: error.code.description, message: error.message))
        }
    }

    private func copy(
        _ files: [UploadFile],
        for command: TransferCommand,
        of application: String,
        reply: @escaping ReplyHandler
    ) {
        guard files.count == command.uploadCount else {
            let message = "the command has \(files.count) files instead of \(command.uploadCount)"
            return reply(.failed(code: EideticError.Code.invalidArgument.description, message: message))
        }
        let owner = store.application(named: application)
        copies.copy(files, of: owner, limit: space.room(besides: owner.diskBytes)) { [unowned self] uploads, error in
            if let error { return reply(.failed(code: error.code.description, message: error.message)) }
            perform(command, of: application, uploads: uploads, reply: reply)
        }
    }

    private func execute(
        _ command: TransferCommand,
        of application: TransferApplication,
        uploads: [UploadCopy]
    ) throws(EideticError) -> TransferReply {
        switch command {
        case .openSession(let configuration): try openSession(configuration, of: application)
        case .removeSession(let session): try removeSession(session, of: application)
        case .add(let requests, let session):
            return .added(try add(requests, to: session, of: application, uploads: uploads))
        case .list(let session, let after):
            return try TransferReport(of: self).page(of: application, session: session, after: after)
        case .pause(let transfers): for number in open(transfers, of: application) { try pause(number) }
        case .resume(let transfers): for number in open(transfers, of: application) { try resume(number) }
        case .cancel(let transfers, let keepsResumeData):
            for number in open(transfers, of: application) {
                cancel(number, reason: .application, keepsResumeData: keepsResumeData)
            }
        case .acknowledge(let events): try acknowledge(events, by: application)
        case .hello, .observe, .endObservation:
            throw EideticError(.invalidArgument, message: "the command belongs to a connection")
        }
        return .done
    }

    /// Returns the transfers of an application that have not ended.
    private func open(_ transfers: [TransferIdentifier], of application: TransferApplication) -> [UInt64] {
        transfers.map(\.rawValue).filter { number in
            guard let row = store.rows[number], !row.state.isTerminal, !finishing.contains(number) else { return false }
            return store.sessions[row.session]?.application === application
        }
    }
}

// MARK: Sessions
extension TransferEngine {
    private func openSession(
        _ configuration: TransferSessionConfiguration,
        of application: TransferApplication
    ) throws(EideticError) {
        let earlier = application.sessions[configuration.identifier]?.configuration
        try store.openSession(configuration, of: application)
        application.sessions[configuration.identifier]?.isForceQuit = false
        if let session = application.sessions[configuration.identifier], earlier?.sendsLaunchEvents == false {
            // It may have finished before it asked for launches.
            delivery.sessionChanged(session)
        }
        guard earlier?.isDiscretionary ?? false, !configuration.isDiscretionary else { return }
        for number in conditions.transfers { makeReady(number) }
    }

    private func removeSession(_ name: String, of application: TransferApplication) throws(EideticError) {
        let session = try store.session(name, of: application)
        for transfer in Array(running.values) where transfer.session === session { release(transfer) }
        for number in conditions.transfers where store.rows[number]?.session == session.number {
            conditions.release(number)
        }
        let paths = try store.removeSession(session)
        delivery.removeObservers(of: session)
        removeAfterCommit(paths)
    }

    /// Removes files when the changes so far are safe.
    func removeAfterCommit(_ paths: [String]) {
        guard !paths.isEmpty else { return }
        commits.afterCommit { [fileSystem] failure in
            if failure == nil { for path in paths { fileSystem.removeIfPresent(path) } }
        }
    }
}

// MARK: Transfers
extension TransferEngine {
    private func add(
        _ requests: [TransferRequest],
        to session: String,
        of application: TransferApplication,
        uploads: [UploadCopy]
    ) throws(EideticError) -> [TransferIdentifier] {
        let session = try store.session(session, of: application)
        var copies = uploads[...]
        var entries: [(request: TransferRequest, upload: (path: String, length: Int)?)] = []
        for request in requests {
            let copy = request.kind == .upload ? copies.popFirst() : nil
            guard request.kind == .download || copy != nil else {
                throw EideticError(.invalidArgument, message: "\(request.url): the upload has no file")
            }
            entries.append((try request.normalised(), copy.map { ($0.path, $0.length) }))
        }
        let numbers = try store.add(entries, to: session)
        if !uploads.isEmpty {
            let files = fileSystem
            let path = application.uploadPath(0)
            syncWorker.add(.work { try? files.synchronizeDirectory(of: path) })
        }
        for (number, request) in zip(numbers, requests) {
            if let data = request.resumeData.flatMap({ try? WireReader.decode(ResumeData.self, from: $0) }) {
                keptParts.restore(data, for: number, of: application)
            }
            if let row = store.rows[number] { deadlines.insert(number, at: row.deadline) }
            makeReady(number)
        }
        return numbers.map(TransferIdentifier.init)
    }
}

extension TransferCommand {
    fileprivate var uploadCount: Int {
        guard case .add(let requests, _) = self else { return 0 }
        return requests.count { $0.kind == .upload }
    }

    /// A Boolean value indicating whether the reply waits until the journal is safe.
    fileprivate var isChange: Bool {
        switch self {
        case .openSession, .removeSession, .add, .pause, .resume, .cancel, .acknowledge: true
        default: false
        }
    }
}
