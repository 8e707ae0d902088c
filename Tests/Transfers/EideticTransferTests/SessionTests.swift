import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import EideticTransfer
import Testing

/// Sessions with a model of the transfer process at the other end of real sockets.
@Suite("Background sessions", .timeLimit(.minutes(1)))
struct SessionTests {
    private let model = ModelService()
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Creates a session as a new process would.
    private func makeSession(_ delegate: RecordingDelegate?, identifier: String = "s") throws -> BackgroundURLSession {
        BackgroundURLSession(configuration: .init(identifier: identifier), delegate: delegate, provider: model)
    }

    private func request(_ path: String = "/a") throws -> BackgroundURLSession.Request {
        try .init(url: "http://localhost\(path)")
    }

    @Test("B14 a download's file is there in the callback and gone after it; the event is acknowledged after both")
    func deliversDownload() async throws {
        let delegate = RecordingDelegate()
        let session = try makeSession(delegate)
        let task = try session.downloadTask(with: try request())
        task.resume()
        try await task.waitUntilAccepted()
        await MainActor.run {
            delegate.hook = { [model] _ in #expect(model.state.withLock { $0.acknowledged.isEmpty }) }
        }
        try model.finish(model.transfer(0), body: "hello", in: directory)
        await delegate.waitForCalls(2)
        let acknowledged = await model.wait { $0.acknowledged.isEmpty ? nil : $0.acknowledged }
        #expect(acknowledged.count == 1)
        let calls = await delegate.calls
        #expect(calls == [.finished(task.taskIdentifier, contents: "hello"), .completed(task.taskIdentifier, nil)])
        #expect(task.state == .completed)
        #expect(task.response?.headers["etag"] == "\"1\"")
        let path = try #require(await delegate.paths.first)
        #expect(throws: SystemError.self) { try FileSystem().status(of: path) }
    }

    @Test(
        "B14 events are delivered in order, and each is acknowledged once, although the connection ends again and again"
    )
    func deliversInOrder() async throws {
        let delegate = RecordingDelegate()
        let session = try makeSession(delegate)
        let tasks = try (0..<40).map { try session.downloadTask(with: try request("/\($0)")) }
        for task in tasks { task.resume() }
        for task in tasks { try await task.waitUntilAccepted() }
        for index in tasks.indices {
            try model.finish(model.transfer(index), body: "\(index)", in: directory)
            if index % 7 == 3 { model.kill() }
        }
        await delegate.waitForCalls(80)
        let acknowledged = await model.wait { $0.acknowledged.count == 40 ? $0.acknowledged : nil }
        #expect(acknowledged == acknowledged.sorted())
        #expect(Set(acknowledged).count == 40)
        let calls = await delegate.calls
        let expected = tasks.enumerated().flatMap { index, task -> [RecordingDelegate.Call] in
            [.finished(task.taskIdentifier, contents: "\(index)"), .completed(task.taskIdentifier, nil)]
        }
        #expect(calls == expected)
    }

    @Test("B14 an event that comes again after it was handled is acknowledged again, and not delivered again")
    func acknowledgesAgain() async throws {
        let delegate = RecordingDelegate()
        let session = try makeSession(delegate)
        let tasks = try (0..<2).map { try session.downloadTask(with: try request("/\($0)")) }
        for task in tasks { task.resume() }
        for task in tasks { try await task.waitUntilAccepted() }
        let event = try #require(model.end(model.transfer(0), with: .failed(code: "timedOut", message: "late")))
        _ = await model.wait { $0.acknowledged.count == 1 ? true : nil }
        // The acknowledgement was not recorded, so the transfer process has the event still.
        model.state.withLock { $0.events.append(event) }
        model.notify(.event(event))
        let acknowledged = await model.wait { $0.acknowledged.count == 2 ? $0.acknowledged : nil }
        #expect(acknowledged == [event.number, event.number])
        try model.finish(model.transfer(1), body: "1", in: directory)
        await delegate.waitForCalls(3)
        #expect(await delegate.calls.count { if case .completed = $0 { true } else { false } } == 2)
    }

    @Test("B14 a task is added once although the process ends between storing it and its reply")
    func addsOnce() async throws {
        model.state.withLock { state in
            state.killsBeforeReplying = { if case .add = $0 { true } else { false } }
        }
        let session = try makeSession(RecordingDelegate())
        let task = try session.downloadTask(with: try request(), taskDescription: "one")
        task.resume()
        try await task.waitUntilAccepted()
        #expect(model.state.withLock { $0.transfers.count } == 1)
        #expect(try await session.allTasks.count == 1)
    }

    @Test("B14 a new process finds tasks and events that were not acknowledged, with the text of each task")
    func findsTasksAgain() async throws {
        let first = try makeSession(nil)
        let tasks = try ["a", "b"].map { (name: String) in
            try first.downloadTask(with: try request("/\(name)"), taskDescription: name)
        }
        for task in tasks { task.resume() }
        for task in tasks { try await task.waitUntilAccepted() }
        first.disconnect()
        try model.finish(model.transfer(0), body: "file a", in: directory)
        // Without a delegate, to which the first task could end before the answer.
        let second = try makeSession(nil)
        let found = try await second.allTasks
        #expect(Set(found.map(\.taskIdentifier)) == Set(tasks.map(\.taskIdentifier)))
        #expect(Set(found.map(\.taskDescription)) == ["a", "b"])
        second.disconnect()
        let delegate = RecordingDelegate()
        let third = try makeSession(delegate)
        defer { third.disconnect() }
        await delegate.waitForCalls(2)
        #expect(await delegate.calls.first == .finished(tasks[0].taskIdentifier, contents: "file a"))
    }

    @Test("B14 without a consumer no event is acknowledged; a sequence acknowledges with the next request")
    func sequenceAcknowledges() async throws {
        let session = try makeSession(nil)
        let task = try session.downloadTask(with: try request())
        task.resume()
        try await task.waitUntilAccepted()
        try model.finish(model.transfer(0), body: "x", in: directory)
        let iterator = session.events.makeAsyncIterator()
        guard case .didFinishDownloading(_, let path)? = await iterator.next() else {
            Issue.record("the file is not delivered first")
            return
        }
        #expect(try FileSystem().contents(of: path) == Array("x".utf8))
        #expect(model.state.withLock { $0.acknowledged.isEmpty })
        guard case .didComplete(_, nil)? = await iterator.next() else {
            Issue.record("the end is not delivered second")
            return
        }
        #expect(model.state.withLock { $0.acknowledged.isEmpty })
        let next = Task { await iterator.next() }
        _ = await model.wait { $0.acknowledged.first }
        next.cancel()
        _ = await next.value
    }

    @Test("B14 an awaited download moves its file to the destination, and needs no delegate")
    func awaitsDownload() async throws {
        let session = try makeSession(nil)
        let task = try session.downloadTask(with: try request())
        task.resume()
        try await task.waitUntilAccepted()
        try model.finish(model.transfer(0), body: "moved", in: directory, status: 404)
        let destination = "\(directory.path)/destination"
        let response = try await task.value(movingFileTo: destination)
        #expect(response.statusCode == 404)
        #expect(try FileSystem().contents(of: destination) == Array("moved".utf8))
        _ = await model.wait { $0.acknowledged.first }
    }

    @Test("B14 a file that cannot be moved to its destination is not acknowledged, and comes again")
    func keepsUnmovableFile() async throws {
        let session = try makeSession(nil)
        let task = try session.downloadTask(with: try request())
        task.resume()
        try await task.waitUntilAccepted()
        try model.finish(model.transfer(0), body: "kept", in: directory)
        let destination = "\(directory.path)/missing/destination"
        await #expect(throws: EideticError.self) { try await task.value(movingFileTo: destination) }
        // The session can be invalidated, and is not removed.
        session.finishTasksAndInvalidate()
        for await event in session.events { if case .didBecomeInvalid(nil) = event { break } }
        let delegate = RecordingDelegate()
        let second = try makeSession(delegate)
        await delegate.waitForCalls(2)
        #expect(await delegate.calls.first == .finished(task.taskIdentifier, contents: "kept"))
        withExtendedLifetime(second) {}
    }

    @Test("B14 suspend, resume and cancel reach the process in the last state, also over a lost connection")
    func changesStates() async throws {
        let delegate = RecordingDelegate()
        let session = try makeSession(delegate)
        let task = try session.downloadTask(with: try request())
        task.suspend()
        #expect(task.state == .suspended)
        task.resume()
        try await task.waitUntilAccepted()
        model.kill()
        task.suspend()
        _ = await model.wait { $0.transfers.first?.state == .paused ? true : nil }
        #expect(try await task.waitingReason == "there is no network")
        task.resume()
        _ = await model.wait { $0.transfers.first?.state == .waiting ? true : nil }
        task.cancel()
        task.resume()
        #expect(task.state == .canceling)
        _ = await model.wait { state in
            state.commands.contains { if case .cancel(_, false) = $0 { true } else { false } } ? true : nil
        }
        model.end(model.transfer(0), with: .cancelled(reason: .application, resumeData: nil))
        await delegate.waitForCalls(1)
        #expect(await delegate.calls == [.completed(task.taskIdentifier, .cancelled)])
    }

    @Test("B14 cancelling by producing resume data returns data with the request, which another task sends")
    func producesResumeData() async throws {
        let session = try makeSession(nil)
        var request = try request()
        request.headers["Accept"] = "text/plain"
        let task = try session.downloadTask(with: request)
        task.resume()
        try await task.waitUntilAccepted()
        async let produced = task.cancelByProducingResumeData()
        _ = await model.wait { state in
            state.commands.contains { if case .cancel(_, true) = $0 { true } else { false } } ? true : nil
        }
        model.end(model.transfer(0), with: .cancelled(reason: .application, resumeData: [1, 2, 3]))
        let observer = Task { for await _ in session.events {} }
        let data = try #require(await produced)
        observer.cancel()
        let continued = try session.downloadTask(withResumeData: data)
        #expect(continued.originalRequest == request)
        continued.resume()
        try await continued.waitUntilAccepted()
        let sent = model.state.withLock { state in
            state.commands.compactMap { if case .add(let requests, _) = $0 { requests[0].resumeData } else { nil } }
        }
        #expect(sent == [[1, 2, 3]])
        #expect(throws: EideticError.self) { try session.downloadTask(withResumeData: [1, 2]) }
    }

    @Test("B14 a refused session becomes invalid with the reason, and its functions throw it")
    func reportsRefusal() async throws {
        model.state.withLock { $0.refusal = EideticError(.limitExceeded, message: "64 sessions") }
        let delegate = RecordingDelegate()
        let session = try makeSession(delegate)
        await #expect(throws: EideticError.self) { try await session.allTasks }
        await delegate.waitForCalls(1)
        #expect(await delegate.calls == [.invalid(.limitExceeded)])
        #expect(throws: EideticError.self) { try session.downloadTask(with: try request()) }
    }

    @Test("B14 a task that is made before the application learns of a refusal gets the error; none is made after that")
    func refusesTasksAfterAnnouncement() async throws {
        model.state.withLock { $0.refusal = EideticError(.limitExceeded, message: "64 sessions") }
        let session = try makeSession(nil)
        await #expect(throws: EideticError.self) { try await session.allTasks }
        // Nobody was told yet.
        let task = try session.downloadTask(with: try request())
        task.resume()
        let error = await #expect(throws: EideticError.self) { try await task.waitUntilAccepted() }
        #expect(error?.code == .limitExceeded)
        #expect(await task.cancelByProducingResumeData() == nil)
        session.invalidateAndCancel()
        let refusal = #expect(throws: EideticError.self) { try session.downloadTask(with: try request()) }
        #expect(refusal?.code == .limitExceeded)
    }

    @Test("B14 a text that is no URL makes no task; the error says so", arguments: ["nonsense", "ftp://h/a", ""])
    func refusesTexts(_ text: String) throws {
        let session = try makeSession(RecordingDelegate())
        let error = #expect(throws: EideticError.self) { try session.downloadTask(with: .init(text)) }
        #expect(error?.code == .invalidURL)
    }

    @Test("B14 finishTasksAndInvalidate waits for the tasks and their events; the session is then removed")
    func invalidates() async throws {
        let delegate = RecordingDelegate()
        let session = try makeSession(delegate)
        let task = try session.downloadTask(with: try request())
        task.resume()
        try await task.waitUntilAccepted()
        session.finishTasksAndInvalidate()
        #expect(throws: EideticError.self) { try session.downloadTask(with: try request()) }
        try model.finish(model.transfer(0), body: "last", in: directory)
        await delegate.waitForCalls(3)
        #expect(await delegate.calls.last == .invalid(nil))
        _ = await model.wait { state in state.commands.contains(.removeSession("s")) ? true : nil }
        #expect(model.state.withLock { $0.acknowledged.count } == 1)
    }

    /// A transfer process that does not answer until a gate is open.
    private struct SlowProvider: TransferServiceProvider {
        let gate: Gate

        func connect() async throws(EideticError) -> TransferClient {
            await gate.wait()
            throw EideticError(.cancelled, message: "the test ends")
        }
    }

    @Test("B14 a wait for the first answer to a session ends if the session is invalidated")
    func invalidatesBeforeOpening() async throws {
        let provider = SlowProvider(gate: Gate()), delegate = RecordingDelegate()
        let session = BackgroundURLSession(
            configuration: .init(identifier: "unopened"),
            delegate: delegate,
            provider: provider
        )
        let answer = Task { try await session.allTasks }
        session.finishTasksAndInvalidate()
        await #expect(throws: EideticError.self) { try await answer.value }
        await delegate.waitForCalls(1)
        #expect(await delegate.calls == [.invalid(nil)])
        provider.gate.open()
    }

    @Test("B14 a task whose event was handled does not come back if the process ends before the acknowledgement")
    func forgetsHandledTasks() async throws {
        let delegate = RecordingDelegate()
        let session = try makeSession(delegate)
        await MainActor.run {
            delegate.hook = { [model] call in if case .completed = call { model.kill() } }
        }
        for round in 0..<5 {
            let task = try session.downloadTask(with: try request("/\(round)"))
            task.resume()
            try await task.waitUntilAccepted()
            try model.finish(model.transfer(round), body: "x", in: directory)
            await delegate.waitForCalls(2 * round + 2)
            await session.waitUntilAcknowledged()
            #expect(try await session.allTasks.isEmpty)
        }
        #expect(model.state.withLock { $0.acknowledged.count } == 5)
        session.invalidateAndCancel()
        await delegate.waitForCalls(11)
        #expect(await delegate.calls.last == .invalid(nil))
    }

    @Test("B14 an invalidation at any moment of a delivery reaches the delegate")
    func invalidatesAtAnyMoment() async throws {
        for round in 0..<Torture.repetitions(100, full: 5_000) {
            let model = ModelService(), delegate = RecordingDelegate()
            let session = BackgroundURLSession(
                configuration: .init(identifier: "s"),
                delegate: delegate,
                provider: model
            )
            let task = try session.downloadTask(with: try request())
            task.resume()
            try await task.waitUntilAccepted()
            try model.finish(model.transfer(0), body: "\(round)", in: directory)
            if round % 2 == 0 { await delegate.waitForCalls(1 + round % 4 / 2) }
            session.finishTasksAndInvalidate()
            await delegate.waitForCalls(3)
            #expect(await delegate.calls.last == .invalid(nil))
        }
    }

    @Test("B14 didFinishEvents follows the last event, once, and completes the wake of the session")
    func finishesEvents() async throws {
        let delegate = RecordingDelegate()
        // The wakes are those of the process, and other tests have sessions at the same time.
        let session = try makeSession(delegate, identifier: "finish")
        let task = try session.downloadTask(with: try request())
        task.resume()
        try await task.waitUntilAccepted()
        let wake = AsyncStream<Void>.makeStream()
        // An application is woken for events that there are: a wake without one ends with an end of its own.
        try model.finish(model.transfer(0), body: "x", in: directory)
        BackgroundSessionWakes.shared.hold({ wake.continuation.finish() }, for: "finish")
        let number = model.state.withLock { $0.lastNumber }
        model.notify(.sessionFinished(lastEvent: number))
        model.notify(.sessionFinished(lastEvent: number))
        for await _ in wake.stream {}
        // The events of another task come after all that was announced.
        let other = try session.downloadTask(with: try request("/b"))
        other.resume()
        try await other.waitUntilAccepted()
        try model.finish(model.transfer(1), body: "y", in: directory)
        await delegate.wait { $0.endedTasks.count == 2 }
        let (first, second) = (task.taskIdentifier, other.taskIdentifier)
        #expect(
            await delegate.calls == [
                .finished(first, contents: "x"), .completed(first, nil), .finishedEvents,
                .finished(second, contents: "y"), .completed(second, nil),
            ]
        )
    }

    @Test("B14 progress is delivered four times a second at most, and never after the end of its task")
    func limitsProgress() async throws {
        let delegate = RecordingDelegate(), time = ManualTime()
        let session = BackgroundURLSession(
            configuration: .init(identifier: "s"),
            delegate: delegate,
            provider: model,
            time: time
        )
        let task = try session.downloadTask(with: try request())
        task.resume()
        try await task.waitUntilAccepted()
        let transfer = model.transfer(0)
        for (elapsed, expected) in [(0, 1), (249, 1), (1, 2), (250, 3)] {
            time.advance(by: .milliseconds(elapsed))
            for count in 1...500 { model.notify(.progress(transfer, completed: count, total: 1_000)) }
            try await passNotifications(to: session)
            #expect(await delegate.calls.count == expected)
        }
        try model.finish(transfer, body: "x", in: directory)
        await delegate.waitForCalls(5)
        time.advance(by: .seconds(1))
        model.notify(.progress(transfer, completed: 900, total: 1_000))
        try await passNotifications(to: session)
        let calls = await delegate.calls
        #expect(calls.prefix(3).allSatisfy { if case .wrote = $0 { true } else { false } }, "\(calls)")
        #expect(calls.suffix(2).first == .finished(task.taskIdentifier, contents: "x") && calls.count == 5)
        #expect(calls.last == .completed(task.taskIdentifier, nil))
    }

    /// Returns when a session has delivered the notifications so far: a reply came after them.
    private func passNotifications(to session: BackgroundURLSession) async throws {
        let task = try session.downloadTask(with: try request("/other"))
        task.resume()
        try await task.waitUntilAccepted()
        await session.waitUntilAcknowledged()
    }

    @Test("B14 the same identifier twice in one process is the same object; a wrong setting is refused")
    func sameObject() throws {
        var configuration = BackgroundURLSession.Configuration(identifier: "same-object")
        configuration.service = ServiceLocation(socketPath: "\(directory.path)/socket", directory: directory.path)
        configuration.service.program = .none
        // A process that could not be reached would make the first session invalid at once, and the second another one.
        let listener = try PacketSocket.listen(at: "\(directory.path)/socket")
        let first = try BackgroundURLSession(configuration: configuration)
        let second = try BackgroundURLSession(configuration: configuration)
        #expect(first === second)
        first.invalidateAndCancel()
        withExtendedLifetime(listener) {}
        for identifier in ["", ".a", "a/b", "ä", String(repeating: "a", count: 256)] {
            #expect(throws: EideticError.self) {
                try BackgroundURLSession(configuration: .init(identifier: identifier))
            }
        }
        configuration = .init(identifier: String(repeating: "a", count: 255))
        configuration.timeoutIntervalForRequest = .zero
        #expect(throws: EideticError.self) { try BackgroundURLSession(configuration: configuration) }
    }
}

extension ModelService {
    /// The transfer that was added after `index` others.
    func transfer(_ index: Int) -> TransferIdentifier { state.withLock { TransferIdentifier($0.added[index]) } }
}
