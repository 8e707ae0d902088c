import EideticCore
import EideticTestSupport
import EideticTransfer
import Testing

extension SessionTests {
    @Test("B14 a refused session becomes invalid with the reason, and its functions throw it")
    func reportsRefusal() async throws {
        model.state.withLock { $0.refusal = EideticError(.limitExceeded, message: "64 sessions") }
        let delegate = RecordingDelegate(), session = try makeSession(delegate)
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

    @Test("B14 a task that is made before the event of a refusal is handled gets the error; none is made after that")
    func refusesTasksAfterEvents() async throws {
        model.state.withLock { $0.refusal = EideticError(.limitExceeded, message: "64 sessions") }
        let session = try makeSession(nil)
        let events = session.events.makeAsyncIterator()
        // It has handled an event when it asks for the next one.
        guard case .didBecomeInvalid? = await events.next() else {
            Issue.record("the session did not become invalid")
            return
        }
        let task = try session.downloadTask(with: try request())
        task.resume()
        await #expect(throws: EideticError.self) { try await task.waitUntilAccepted() }
        while await events.next() != nil {}
        let refusal = #expect(throws: EideticError.self) { try session.downloadTask(with: try request()) }
        #expect(refusal?.code == .limitExceeded)
    }

    @Test("B14 finishTasksAndInvalidate waits for the tasks and their events; the session is then removed")
    func invalidates() async throws {
        let delegate = RecordingDelegate(), session = try makeSession(delegate)
        try await start(in: session)
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
}
