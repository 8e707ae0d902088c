import EideticCore

/// The loop that brings the transfer process to the state that the application wants.
extension SessionCore {
    /// Connects, and connects again when the transfer process has ended, until the session is invalid.
    func run(with provider: any TransferServiceProvider) async {
        let wakes = BackgroundSessionWakes.shared
        let identifier = configuration.identifier
        let observer = wakes.addObserver(of: identifier) { [signal] in signal.send() }
        defer { wakes.removeObserver(observer, of: identifier) }
        var backOff = ReconnectionDelay()
        while !withState({ $0.isInvalid }) {
            do throws(EideticError) {
                let connection = try await provider.connect()
                try await serve(connection) { backOff.reset() }
            } catch {
                guard error.isReconnectable else { return fail(error) }
                let message = "session \(identifier): \(error); connecting again"
                Log.write(.info, category: .background, message: message)
                // The task is never cancelled.
                try? await Task.sleep(for: backOff.next())
            }
        }
    }

    private func serve(_ connection: TransferClient, onOpen: () -> Void) async throws(EideticError) {
        connection.onLoss { [signal] in signal.send() }
        defer { connection.close() }
        let identifier = configuration.identifier
        try await connection.openSession(configuration.transferConfiguration)
        reconcile(with: try await connection.transfers(in: identifier))
        let observation = try await connection.observe(identifier) { [weak self] in self?.receive($0) }
        withState { $0.connection = connection }
        defer { withState { $0.connection = nil } }
        onOpen()
        if opened.fulfil(.success(())) { deliverEvents() }
        defer { withExtendedLifetime(observation) {} }
        try await perform(on: connection)
        // A session with events for the next process stays.
        if withState({ $0.failure == nil && $0.tasks.isEmpty }) { try await connection.removeSession(identifier) }
    }

    private func perform(on connection: TransferClient) async throws(EideticError) {
        var signals = signal.makeIterator()
        while true {
            guard !connection.isLost else {
                throw EideticError(.connectionLost, message: "the transfer process has ended")
            }
            try await flush(to: connection)
            if withState({ $0.isInvalid && $0.acknowledgements.isEmpty }) { return }
            try await finishWake(on: connection)
            if withState({ !$0.tasks.hasChanges && $0.acknowledgements.isEmpty }) { _ = await signals.next() }
        }
    }

    /// Reports the end of all events to an application that was woken if the transfer process has none either.
    ///
    /// It announces an end after events only, and an earlier process may have acknowledged them, or this one before it
    /// was told of the wake.
    private func finishWake(on service: TransferClient) async throws(EideticError) {
        let wakes = BackgroundSessionWakes.shared
        let identifier = configuration.identifier
        guard wakes.isHolding(identifier), withState({ !$0.awaitsEvent }) else { return }
        guard try await !service.transfers(in: identifier).contains(where: \.state.isTerminal) else { return }
        // An end that was announced came before the reply, and has ended the wake when the queue is empty.
        let isAdded = withState { wakes.isHolding(identifier) && $0.queue.insertFinishIfEmpty() }
        if isAdded { deliverEvents() }
    }

    /// Adopts the transfers that the transfer process has, and marks the tasks that it lacks.
    private func reconcile(with transfers: [TransferStatus]) {
        let identifiers = Set(transfers.map { adopt($0) })
        let missing = tasks.filter { task in
            let state = task.record.current
            return state.goal != .absent && !state.isCompleted && !identifiers.contains(task.taskIdentifier)
        }
        let waiting = withState { state in
            Set((state.queue.waiting + [state.queue.current].compactMap(\.self)).compactMap(\.task))
        }
        for task in missing where !waiting.contains(task.taskIdentifier) {
            task.record.update { state in
                state.transfer = nil
                state.confirmed = .absent
            }
            withState { $0.tasks.markChanged(task) }
        }
    }

    /// Returns the identifier of the task of a transfer, which is created if this process does not have it.
    private func adopt(_ transfer: TransferStatus) -> UInt64 {
        let note = TaskNote.decode(transfer.note, of: transfer.identifier)
        let task = task(for: note, transfer: transfer.identifier, kind: transfer.kind, url: transfer.url)
        guard let task else { return note.identifier }
        let isDirty = task.record.update { state in
            state.confirmed = transfer.state == .paused ? .paused : .running
            if state.goal == .absent { state.goal = state.confirmed }
            state.hasEnded = transfer.state.isTerminal
            state.earliestBegin = state.earliestBegin ?? transfer.earliestBegin
            state.progress = TransferProgress(
                completed: Int64(transfer.completedBytes),
                total: transfer.totalBytes.map(Int64.init)
            )
            return state.goal != state.confirmed && !transfer.state.isTerminal
        }
        task.record.accepted.fulfil(.success(()))
        if isDirty { withState { $0.tasks.markChanged(task) } }
        return note.identifier
    }

    /// Returns the task of a transfer, and records the number of the transfer.
    func task(
        for note: TaskNote,
        transfer: TransferIdentifier,
        kind: TransferRequest.Kind,
        url: String
    ) -> TransferTask? {
        let found = withState { $0.tasks[note.identifier] }
        let task = found ?? makeTask(for: note, kind: kind, url: url)
        guard let task else { return nil }
        task.record.update { $0.transfer = transfer }
        return withState { state in
            // Its event may have been handled since the list was made.
            if state.tasks[note.identifier] == nil, state.acknowledgements.contains(transfer) { return nil }
            return state.tasks.adopt(task, for: transfer)
        }
    }

    private func makeTask(for note: TaskNote, kind: TransferRequest.Kind, url: String) -> TransferTask? {
        guard let request = try? BackgroundURLSession.Request(url: url) else { return nil }
        var descriptor = TaskDescriptor(identifier: note.identifier, request: request)
        descriptor.text = note.text
        if kind == .upload { descriptor.uploadedFile = "" }
        var state = TaskRecord.State()
        state.isOwn = false
        state.goal = .running
        state.confirmed = .running
        let record = TaskRecord(descriptor: descriptor, state: state, session: self)
        return kind == .upload ? UploadTask(record: record) : DownloadTask(record: record)
    }

    func waitingReason(of task: TransferTask) async throws(EideticError) -> String? {
        try await opened.value()
        guard let connection = withState({ $0.connection }) else { return "the transfer process is being started" }
        let transfers = try await connection.transfers(in: configuration.identifier)
        guard task.record.current.transfer != nil else {
            return task.record.isDownload ? nil : "its file is being copied by the transfer process"
        }
        let status = transfers.first { $0.identifier == task.record.current.transfer }
        let reasons = status?.reasons.map(\.text) ?? []
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }
}

extension SessionCore.State {
    /// A Boolean value indicating whether an event waits here, or is known to come.
    fileprivate var awaitsEvent: Bool { !queue.isEmpty || tasks.all.contains { $0.record.current.hasEnded } }
}

/// The delay before a connection is attempted again: 10 ms, and twice as much after each failure, up to 5 s.
struct ReconnectionDelay {
    private static let first = Duration.milliseconds(10)
    private var delay = first

    mutating func next() -> Duration {
        defer { delay = min(delay * 2, .seconds(5)) }
        return delay
    }

    mutating func reset() { delay = Self.first }
}

extension EideticError {
    /// A Boolean value indicating whether another connection to the transfer process may succeed.
    var isReconnectable: Bool { code == .connectionLost || code == .connectionRefused }
}

extension BackgroundURLSession.Configuration {
    /// The settings that the transfer process keeps.
    var transferConfiguration: TransferSessionConfiguration {
        var configuration = TransferSessionConfiguration(identifier: identifier)
        configuration.sendsLaunchEvents = sendsLaunchEvents
        configuration.isDiscretionary = isDiscretionary
        configuration.requestTimeout = timeoutIntervalForRequest
        configuration.resourceTimeout = timeoutIntervalForResource
        configuration.usesCookies = httpShouldSetCookies
        configuration.connectionsPerHost = httpMaximumConnectionsPerHost
        return configuration
    }
}
