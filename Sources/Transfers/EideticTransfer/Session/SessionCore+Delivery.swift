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

/// The way of events from the transfer process to the application.
extension SessionCore {
    /// Records a notification of the transfer process; called on its thread.
    func receive(_ notification: TransferNotification) {
        switch notification {
        case .event(let event): if insert(event) { deliverEvents() }
        case .progress(let transfer, let completed, let total):
            record(TransferProgress(completed: Int64(completed), total: total.map(Int64.init)), of: transfer)
        case .sessionFinished(let lastEvent):
            if withState({ $0.queue.insertFinish(lastEvent: lastEvent) }) { deliverEvents() }
        }
    }

    /// Adds an event to those that are delivered; returns `false` if it was known.
    private func insert(_ event: TransferEvent) -> Bool {
        let note = TaskNote.decode(event.note, of: event.transfer)
        let insertion = withState { state in
            let insertion = state.queue.insert(event, task: note.identifier)
            // The acknowledgement was lost with the connection.
            if insertion == .handled { state.acknowledgements.add(event.number) }
            return insertion
        }
        if insertion == .handled { signal.send() }
        guard insertion == .added else { return false }
        let task = task(for: note, transfer: event.transfer, kind: event.kind, url: event.url)
        task?.record.update { $0.hasEnded = true }
        task?.record.accepted.fulfil(.success(()))
        return true
    }

    private func record(_ progress: TransferProgress, of transfer: TransferIdentifier) {
        let task = withState { $0.tasks.task(of: transfer) }
        guard let task else { return }
        task.record.update { $0.progress = progress }
        withState { state in
            if !state.progressing.contains(task.taskIdentifier) { state.progressing.append(task.taskIdentifier) }
        }
        deliverEvents()
    }

    /// Adds a consumer beside the delegate.
    func addMailbox() -> EventMailbox {
        let mailbox = EventMailbox()
        let isInvalid = withState { state in
            if !state.isInvalid { state.mailboxes.append(mailbox) }
            return state.isInvalid
        }
        if isInvalid { mailbox.finish() } else { deliverEvents() }
        return mailbox
    }

    /// Starts the delivery unless it is active.
    func deliverEvents() {
        let starts = withState { state in
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard starts else { return }
        Task {
            let work = DeliveryWork()
            defer { work.end() }
            while true {
                if let task = nextProgress() {
                    await pass(.progress(of: task))
                } else if let entry = nextEntry() {
                    await deliver(entry)
                } else if invalidateIfDone() {
                    await deliverInvalidation()
                } else if stopDelivering() {
                    return resumeIdleWaiters()
                }
            }
        }
    }

    /// Ends the delivery if nothing can be delivered; returns whether it did.
    private func stopDelivering() -> Bool {
        withState { state in
            state.mailboxes.removeAll(where: \.isFinished)
            // Checked under the same lock, so that nothing which comes now is left without a delivery.
            let hasEvent = state.deliverableIndex(hasDelegate: delegate != nil) != nil
            let isIdle = !hasEvent && state.progressing.isEmpty && !state.isDone
            if isIdle { state.isDelivering = false }
            return isIdle
        }
    }

    /// Waits until nothing is being delivered, and all acknowledgements are confirmed.
    func waitUntilAcknowledged() async {
        let waiter = Waiter<Void>()
        withState { $0.idleWaiters.append(waiter) }
        resumeIdleWaiters()
        await waiter.wait {}
    }

    /// Resumes those that wait if nothing is being delivered or unconfirmed, or will not be any more.
    func resumeIdleWaiters() {
        let waiters = withState { state -> [Waiter<Void>] in
            let isIdle = !state.isDelivering && state.acknowledgements.areConfirmed
            guard isIdle || state.failure != nil else { return [] }
            defer { state.idleWaiters = [] }
            return state.idleWaiters
        }
        for waiter in waiters { waiter.resume(returning: ()) }
    }

    private func nextEntry() -> DeliveryQueue.Entry? {
        withState { state in
            state.mailboxes.removeAll(where: \.isFinished)
            return state.deliverableIndex(hasDelegate: delegate != nil).flatMap { state.queue.take(at: $0) }
        }
    }

    private func nextProgress() -> TransferTask? {
        withState { state in
            while let identifier = state.progressing.first {
                state.progressing.removeFirst()
                let isHeard = delegate != nil || !state.mailboxes.isEmpty
                guard isHeard, let task = state.tasks[identifier], !task.record.current.isCompleted,
                    task.record.allowsProgress(at: time.uptime)
                else { continue }
                return task
            }
            return nil
        }
    }
}

// MARK: The delivery of one event
extension SessionCore {
    private func deliver(_ entry: DeliveryQueue.Entry) async {
        let task = entry.task.flatMap { identifier in withState { $0.tasks[identifier] } }
        let delivery: Delivery
        switch (entry.content, task) {
        case (.sessionFinished, _): delivery = await deliverFinish()
        case (.taskFailed(_, let error), let task?): delivery = await complete(task, with: .failure(error))
        case (.taskFailed, nil): delivery = .handled
        case (.transferEnded, nil): delivery = .abandoned
        case (.transferEnded(let event), let task?):
            switch event.outcome {
            case .finished(let response): delivery = await deliver(response, of: task)
            case .failed(let code, let message):
                let error = EideticError(EideticError.Code(named: code) ?? .badResponse, message: message)
                delivery = await complete(task, with: .failure(error))
            case .cancelled(let reason, let data):
                task.record.resumeData.fulfil(.success(data))
                let message = reason == .userForceQuit ? "cancelled: the user has quit the application" : "cancelled"
                delivery = await complete(task, with: .failure(EideticError(.cancelled, message: message)))
            }
        }
        switch delivery {
        case .handled: finish(entry)
        case .unheard: withState { $0.queue.returnCurrent() }
        case .abandoned: abandon(entry)
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
            guard await pass(.file(at: path, of: task)) || task.record.isAwaited else { return .unheard }
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
        await pass(.didComplete(task, error: error))
        return .abandoned
    }

    private func destination(of task: TransferTask) -> String? {
        guard task is DownloadTask else { return nil }
        return task.record.current.destination ?? withState { $0.destination }?(task)
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
        let isHandled = await pass(.didComplete(task, error: failure))
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
        await pass(.didFinishEvents)
        if let wake { wakes.complete(identifier, through: wake) }
        return .handled
    }

    private func deliverInvalidation() async {
        let (error, session) = withState { ($0.failure, $0.session) }
        let isHandled = await pass(.didBecomeInvalid(error: error))
        // A delegate has been told within `pass`.
        if delegate == nil, isHandled { withState { $0.isAnnounced = true } }
        for mailbox in withState({ $0.mailboxes }) { mailbox.finish() }
        withExtendedLifetime(session) {}
    }

    /// Passes an event to the delegate and to the other consumers, and returns whether one of them has handled it.
    @discardableResult
    private func pass(_ event: BackgroundURLSession.Event?) async -> Bool {
        guard let event else { return true }
        var isHandled = delegate != nil
        if let delegate, let session {
            await MainActor.run {
                if case .didBecomeInvalid = event { withState { $0.isAnnounced = true } }
                event.call(delegate, of: session)
            }
        }
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
    /// Returns the place of the first event that somebody waits for; `nil` if there is none.
    ///
    /// An event of the session is delivered to nobody when it is the first.
    fileprivate func deliverableIndex(hasDelegate: Bool) -> Int? {
        guard failure == nil else { return nil }
        if hasDelegate || !mailboxes.isEmpty { return queue.waiting.isEmpty ? nil : queue.waiting.startIndex }
        let isSessionEventFirst = queue.waiting.first?.task == nil
        return queue.waiting.firstIndex { entry in
            guard let task = entry.task else { return isSessionEventFirst }
            return tasks[task]?.record.isAwaited ?? true
        }
    }

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
