import EideticCore

/// The way of events from the transfer process to the application.
extension SessionCore {
    /// Records a notification of the transfer process; called on its thread.
    func receive(_ notification: TransferNotification) {
        switch notification {
        case .event(let event): receive(event)
        case .progress(let transfer, let completed, let total):
            record(TransferProgress(completed: Int64(completed), total: total.map(Int64.init)), of: transfer)
        case .sessionFinished(let lastEvent):
            if withState({ $0.queue.insertFinish(lastEvent: lastEvent) }) { deliverEvents() }
        }
    }

    private func receive(_ event: TransferEvent) {
        let note = TaskNote.decode(event.note, of: event.transfer)
        let insertion = withState { state in
            let insertion = state.queue.insert(event, task: note.identifier)
            // The acknowledgement was lost with the connection.
            if insertion == .handled { state.acknowledgements.add(event.number) }
            return insertion
        }
        switch insertion {
        case .known: break
        case .handled: signal.send()
        case .added:
            let task = task(for: note, transfer: event.transfer, kind: event.kind, url: event.url)
            task?.record.update { $0.hasEnded = true }
            task?.record.accepted.fulfil(.success(()))
            deliverEvents()
        }
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
        if starts { Task { await deliver() } }
    }

    private func deliver() async {
        let work = DeliveryWork()
        defer { work.end() }
        while true {
            if let task = nextProgress() {
                await deliverProgress(of: task)
            } else if let entry = nextEntry() {
                await deliver(entry)
            } else if invalidateIfDone() {
                await deliverInvalidation()
            } else if stopDelivering() {
                return resumeIdleWaiters()
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
}
