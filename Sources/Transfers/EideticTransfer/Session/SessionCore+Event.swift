import EideticCore

/// The outcome of a delivery.
private enum Delivery {
    /// The event is acknowledged.
    case handled
    /// All consumers are gone; the event waits for another one.
    case unheard
    /// The event is left to the next process.
    case abandoned
}

/// The delivery of one event.
extension SessionCore {
    func deliverProgress(of task: TransferTask) async {
        let progress = task.progress
        switch task {
        case let task as DownloadTask:
            await pass(.didWriteData(task, progress)) { $0.urlSession($1, downloadTask: task, didWriteData: progress) }
        case let task as UploadTask:
            await pass(.didSendBodyData(task, progress)) {
                $0.urlSession($1, uploadTask: task, didSendBodyData: progress)
            }
        default: break
        }
    }

    func deliver(_ entry: DeliveryQueue.Entry) async {
        let task = entry.task.flatMap { identifier in withState { $0.tasks[identifier] } }
        let delivery: Delivery
        switch entry.content {
        case .sessionFinished: delivery = await deliverFinish()
        case .taskFailed(_, let error):
            if let task { delivery = await complete(task, with: .failure(error)) } else { delivery = .handled }
        case .transferEnded(let event):
            if let task { delivery = await deliver(event.outcome, of: task) } else { delivery = .abandoned }
        }
        switch delivery {
        case .handled: finish(entry)
        case .unheard: withState { $0.queue.returnCurrent() }
        case .abandoned: abandon(entry)
        }
    }

    private func deliver(_ outcome: TransferEvent.Outcome, of task: TransferTask) async -> Delivery {
        switch outcome {
        case .finished(let response): return await deliver(response, of: task)
        case .failed(let code, let message):
            let error = EideticError(EideticError.Code(named: code) ?? .badResponse, message: message)
            return await complete(task, with: .failure(error))
        case .cancelled(let reason, let data):
            task.record.resumeData.fulfil(.success(data))
            let message = reason == .userForceQuit ? "cancelled: the user has quit the application" : "cancelled"
            return await complete(task, with: .failure(EideticError(.cancelled, message: message)))
        }
    }

    private func deliver(_ response: TransferEvent.Response, of task: TransferTask) async -> Delivery {
        let head = BackgroundURLSession.Response(
            url: response.effectiveURL,
            statusCode: response.status,
            headers: response.headers
        )
        task.record.update { state in
            state.response = head
            if task is DownloadTask {
                state.progress = TransferProgress(completed: Int64(response.length), total: Int64(response.length))
            }
        }
        let file = DeliveredFile(path: response.path, destination: destination(of: task))
        do throws(EideticError) {
            let path = try await files.run { _ throws(EideticError) in try file.prepare() }
            guard await passFile(at: path, of: task) || task.record.isAwaited else { return .unheard }
        } catch {
            return await deliverFault(error, of: task)
        }
        guard await complete(task, with: .success(head)) == .handled else { return .unheard }
        _ = try? await files.run { _ in file.remove() }
        return .handled
    }

    /// Reports that the file of a task cannot be handed over, and leaves the event to the next process.
    private func deliverFault(_ error: EideticError, of task: TransferTask) async -> Delivery {
        task.record.outcome.fulfil(.failure(error))
        let message = "task \(task.taskIdentifier) of session \(configuration.identifier): \(error)"
        Log.write(.error, category: .background, message: message)
        await pass(.didComplete(task, error: error)) { $0.urlSession($1, task: task, didCompleteWithError: error) }
        return .abandoned
    }

    private func destination(of task: TransferTask) -> String? {
        guard task is DownloadTask else { return nil }
        return task.record.current.destination ?? withState { $0.destination }?(task)
    }

    private func passFile(at path: String, of task: TransferTask) async -> Bool {
        switch task {
        case let task as DownloadTask:
            return await pass(.didFinishDownloading(task, path: path)) {
                $0.urlSession($1, downloadTask: task, didFinishDownloadingTo: path)
            }
        case let task as UploadTask:
            return await pass(.didReceiveResponseBody(task, path: path)) {
                $0.urlSession($1, uploadTask: task, didReceiveResponseBodyAt: path)
            }
        default: return true
        }
    }

    private func complete(
        _ task: TransferTask,
        with result: Result<BackgroundURLSession.Response, EideticError>
    ) async -> Delivery {
        task.record.update { $0.isCompleted = true }
        var failure: EideticError?
        if case .failure(let error) = result { failure = error }
        task.record.accepted.fulfil(result.map { _ in })
        task.record.resumeData.fulfil(.success(nil))
        let isHandled = await pass(.didComplete(task, error: failure)) {
            $0.urlSession($1, task: task, didCompleteWithError: failure)
        }
        let outcome = task.record.outcome
        let isDelivered = outcome.fulfil(result, requiresCaller: !isHandled) || outcome.result != nil
        return isHandled || isDelivered ? .handled : .unheard
    }

    /// Reports the end of all events, which is handled also if nobody hears it.
    private func deliverFinish() async -> Delivery {
        let wakes = BackgroundSessionWakes.shared
        let identifier = configuration.identifier
        // A wake that begins later has an end of its own. The main actor may not run, as in a command that waits.
        let wake = wakes.last(of: identifier)
        await pass(.didFinishEvents) { $0.urlSessionDidFinishEvents(forBackgroundURLSession: $1) }
        if let wake { wakes.complete(identifier, through: wake) }
        return .handled
    }

    func deliverInvalidation() async {
        let (error, session) = withState { state in
            state.isAnnounced = delegate == nil && !state.mailboxes.isEmpty
            return (state.failure, state.session)
        }
        await pass(.didBecomeInvalid(error: error)) { delegate, session in
            withState { $0.isAnnounced = true }
            delegate.urlSession(session, didBecomeInvalidWithError: error)
        }
        for mailbox in withState({ $0.mailboxes }) { mailbox.finish() }
        withExtendedLifetime(session) {}
    }

    /// Passes an event to the delegate and to the other consumers, and returns whether one of them has handled it.
    @discardableResult
    private func pass(
        _ event: BackgroundURLSession.Event,
        to method: @MainActor (any BackgroundURLSessionDelegate, BackgroundURLSession) -> Void
    ) async -> Bool {
        var isHandled = delegate != nil
        if let delegate, let session { await MainActor.run { method(delegate, session) } }
        for mailbox in withState({ $0.mailboxes }) where await mailbox.deliver(event) { isHandled = true }
        return isHandled
    }

    /// Leaves an event to the next process.
    private func abandon(_ entry: DeliveryQueue.Entry) {
        let waiters = withState { state in
            state.queue.abandonCurrent()
            if let task = entry.task { state.tasks.abandon(task) }
            return state.takeEndWaiters(of: entry.task)
        }
        for waiter in waiters { waiter.resume(returning: ()) }
    }

    /// Counts an event as handled, and acknowledges it.
    private func finish(_ entry: DeliveryQueue.Entry) {
        let waiters = withState { state in
            if let number = state.queue.finishCurrent() {
                var transfer: TransferIdentifier?
                if case .transferEnded(let event) = entry.content { transfer = event.transfer }
                state.acknowledgements.add(number, of: transfer)
            }
            if let task = entry.task { state.tasks.remove(task) }
            return state.takeEndWaiters(of: entry.task)
        }
        for waiter in waiters { waiter.resume(returning: ()) }
        signal.send()
    }

    /// Waits until the end of a task is handled, or left to the next process, or the calling task is cancelled.
    func waitUntilHandled(_ task: UInt64) async {
        let waiter = Waiter<Void>()
        guard withState({ $0.addEndWaiter(waiter, of: task) }) else { return }
        await waiter.wait { waiter.resume(returning: ()) }
    }
}

extension SessionCore.State {
    /// Adds a caller to those that wait for the end of a task; returns `false` if that is handled.
    fileprivate mutating func addEndWaiter(_ waiter: Waiter<Void>, of task: UInt64) -> Bool {
        guard tasks.isOpen(task), failure == nil else { return false }
        endWaiters[task, default: []].append(waiter)
        return true
    }

    fileprivate mutating func takeEndWaiters(of task: UInt64?) -> [Waiter<Void>] {
        task.flatMap { endWaiters.removeValue(forKey: $0) } ?? []
    }
}
