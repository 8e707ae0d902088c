import EideticCore
import EideticHTTP

/// The changes that the application has made, on their way to the transfer process.
extension SessionCore {
    /// The greatest number of bytes of the requests of one message, and of the files of uploads in it.
    private static let messageLimit = (bytes: 40_000, files: 16)

    /// Sends all changes and acknowledgements; what could not be sent is sent after the next connection.
    func flush(to service: TransferClient) async throws(EideticError) {
        var numbers = withState { $0.acknowledgements.take() }
        let changed = withState { $0.tasks.takeChanged() }
        do throws(EideticError) {
            for chunk in numbers.chunked(by: 1_024) { try await service.acknowledge(chunk) }
            withState { $0.acknowledgements.confirm(numbers) }
            if !numbers.isEmpty { resumeIdleWaiters() }
            numbers = []
            let tasks = withState { $0.tasks.withoutUploads(changed) }
            startUploads(among: tasks, to: service)
            try await addMissing(among: tasks.filter { !isNewUpload($0) }, to: service)
            try await change(tasks, on: service)
        } catch {
            withState { state in
                state.acknowledgements.restore(numbers)
                state.tasks.restoreChanged(changed)
            }
            throw error
        }
    }

    private func addMissing(among tasks: [TransferTask], to service: TransferClient) async throws(EideticError) {
        var chunk: [Addition] = []
        var size = 0
        var fileCount = 0
        for task in tasks where task.record.current.confirmed == .absent {
            guard let (addition, length) = prepare(task) else { continue }
            let isUpload = !task.record.isDownload
            if size + length > Self.messageLimit.bytes || (isUpload && fileCount == Self.messageLimit.files) {
                try await add(chunk, to: service)
                chunk = []
                size = 0
                fileCount = 0
            }
            chunk.append(addition)
            size += length
            fileCount += isUpload ? 1 : 0
        }
        try await add(chunk, to: service)
    }

    /// Returns the request of a task, and the number of its bytes; ends a task that cannot be sent.
    private func prepare(_ task: TransferTask) -> (Addition, length: Int)? {
        if task.record.current.goal.isCancelled {
            fail(task, error: .cancelled)
            return nil
        }
        guard task.record.current.isOwn else {
            // What an earlier process has added cannot be added again: its file is not known here.
            fail(task, error: EideticError(.notFound, message: "the transfer process does not have the transfer"))
            return nil
        }
        var request = task.record.descriptor.transferRequest(adding: configuration.httpAdditionalHeaders)
        request.earliestBegin = task.record.current.earliestBegin
        do throws(EideticError) { return (Addition(task: task, request: request), try request.encodedLength()) } catch {
            refuse(task, because: error)
            return nil
        }
    }

    /// Adds tasks; if one of them is refused, one by one.
    private func add(_ additions: [Addition], to service: TransferClient) async throws(EideticError) {
        guard !additions.isEmpty else { return }
        do throws(EideticError) {
            let identifiers = try await service.add(additions.map(\.request), to: configuration.identifier)
            for (addition, identifier) in zip(additions, identifiers) { confirm(addition.task, transfer: identifier) }
        } catch {
            if error.isReconnectable { throw error }
            guard additions.count == 1 else {
                for addition in additions { try await add([addition], to: service) }
                return
            }
            for addition in additions { refuse(addition.task, because: error) }
        }
    }

    private func refuse(_ task: TransferTask, because error: EideticError) {
        task.record.accepted.fulfil(.failure(error))
        fail(task, error: error)
    }

    private func confirm(_ task: TransferTask, transfer: TransferIdentifier) {
        task.record.update { state in
            state.transfer = transfer
            state.confirmed = .running
        }
        withState { $0.tasks.confirm(task, transfer: transfer) }
        task.record.accepted.fulfil(.success(()))
    }

    private func change(_ tasks: [TransferTask], on service: TransferClient) async throws(EideticError) {
        var changes: [TaskGoal: [TransferTask]] = [:]
        for task in tasks {
            let state = task.record.current
            if state.transfer != nil, state.goal != state.confirmed { changes[state.goal, default: []].append(task) }
        }
        for (goal, tasks) in changes {
            for chunk in tasks.chunked(by: 1_024) {
                let transfers = chunk.compactMap(\.record.current.transfer)
                switch goal {
                case .absent: break
                case .running: try await service.resume(transfers)
                case .paused: try await service.pause(transfers)
                case .cancelled(let keepsResumeData):
                    try await service.cancel(transfers, keepsResumeData: keepsResumeData)
                }
                for task in chunk { task.record.update { $0.confirmed = goal } }
            }
        }
    }
}

// New uploads are added beside all other changes: the transfer process copies their files first, which takes long for a
// large one, and for ever where a file system hangs.
extension SessionCore {
    /// Returns whether a task is an upload that the transfer process does not have.
    private func isNewUpload(_ task: TransferTask) -> Bool {
        !task.record.isDownload && task.record.current.confirmed == .absent
    }

    /// Starts to add the new uploads; their changes meanwhile are made when they are added.
    private func startUploads(among tasks: [TransferTask], to service: TransferClient) {
        let uploads = tasks.filter(isNewUpload)
        guard !uploads.isEmpty else { return }
        withState { $0.tasks.beginUploads(uploads) }
        Task {
            do throws(EideticError) {
                try await addMissing(among: uploads, to: service)
                finish(uploads, isLost: false)
            } catch {
                finish(uploads, isLost: true)
            }
        }
    }

    private func finish(_ uploads: [TransferTask], isLost: Bool) {
        withState { $0.tasks.endUploads(uploads, isLost: isLost) }
        signal.send()
    }
}

/// A task on its way to the transfer process.
private struct Addition {
    let task: TransferTask
    let request: TransferRequest
}

extension TransferRequest {
    /// Returns the number of bytes of the request in a message.
    ///
    /// - Throws: `limitExceeded` if the transfer process cannot read it.
    fileprivate func encodedLength() throws(EideticError) -> Int {
        let bytes = WireWriter.encode(self)
        do throws(WireError) { _ = try WireReader.decode(TransferRequest.self, from: bytes) } catch {
            throw EideticError(.limitExceeded, message: "the request is too long for the transfer process: \(error)")
        }
        return bytes.count
    }
}

extension TaskDescriptor {
    func transferRequest(adding fields: HTTPHeaders) -> TransferRequest {
        var transfer = TransferRequest(download: request.url)
        if let uploadedFile {
            let method = request.httpMethod == "GET" ? "PUT" : request.httpMethod
            transfer = TransferRequest(upload: uploadedFile, to: request.url, method: method)
        } else {
            transfer.method = request.httpMethod
        }
        transfer.headers = fields.merging(request.headers)
        transfer.note = WireWriter.encode(TaskNote(identifier: identifier, text: text))
        transfer.priority = priority
        transfer.resumeData = resumeData
        transfer.redirects = request.redirects.value
        return transfer
    }
}

extension BackgroundURLSession.RedirectPolicy {
    /// The policy as the transfer process knows it.
    var value: TransferRequest.Redirects {
        switch self {
        case .followed: .all
        case .followedWithinOrigin: .sameOrigin
        case .delivered: .none
        }
    }

    init(_ value: TransferRequest.Redirects) {
        self =
            switch value {
            case .all: .followed
            case .sameOrigin: .followedWithinOrigin
            case .none: .delivered
            }
    }
}

extension Array {
    /// Returns the elements in groups of at most `count`.
    fileprivate func chunked(by count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
    }
}
