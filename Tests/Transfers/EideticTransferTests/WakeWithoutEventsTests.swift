import EideticCore
import EideticTestSupport
import EideticTransfer
import Testing

/// Wakes for sessions that have no event, or none any more, with a model of the transfer process.
@Suite("Wakes for sessions without events", .timeLimit(.minutes(1)))
struct WakeWithoutEventsTests {
    private let model = ModelService()
    private let directory: TemporaryDirectory
    /// The wakes are those of the process, and other tests have sessions at the same time.
    private let identifier = "wake-\(UInt64.random(in: 0 ... .max))"

    init() throws { directory = try TemporaryDirectory() }

    /// Creates a session as a new process would.
    private func makeSession(_ delegate: RecordingDelegate?) -> BackgroundURLSession {
        BackgroundURLSession(configuration: .init(identifier: identifier), delegate: delegate, provider: model)
    }

    /// Begins a wake; returns a sequence that ends with it.
    private func wake() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        BackgroundSessionWakes.shared.hold({ continuation.finish() }, for: identifier)
        return stream
    }

    /// Hands over a download to a session, and ends it.
    private func download(in session: BackgroundURLSession) async throws -> DownloadTask {
        let task = try session.downloadTask(with: try .init(url: "http://localhost/a"))
        task.resume()
        try await task.waitUntilAccepted()
        try model.finish(model.transfer(0), body: "x", in: directory)
        return task
    }

    @Test("B14 a wake for a session whose events were all acknowledged before the kill ends with didFinishEvents")
    func acknowledgedBeforeKill() async throws {
        let killed = RecordingDelegate(), delegate = RecordingDelegate()
        let first = makeSession(killed)
        _ = try await download(in: first)
        _ = await model.wait { $0.acknowledged.first }
        await first.waitUntilAcknowledged()
        first.disconnect()
        // Without a wake nothing is said to have finished.
        #expect(await killed.calls.count == 2)
        let wake = wake(), session = makeSession(delegate)
        for await _ in wake {}
        #expect(await delegate.calls == [.finishedEvents])
        withExtendedLifetime(session) {}
    }

    @Test("B14 a wake of a session that is open, and has handled its events before, ends with didFinishEvents")
    func acknowledgedBeforeWake() async throws {
        let delegate = RecordingDelegate(), session = makeSession(delegate)
        _ = try await download(in: session)
        let number = model.state.withLock { $0.lastNumber }
        model.notify(.sessionFinished(lastEvent: number))
        await delegate.waitForCalls(3)
        await session.waitUntilAcknowledged()
        for await _ in wake() {}
        #expect(await delegate.calls.suffix(2) == [.finishedEvents, .finishedEvents])
        // Each further wake is told once.
        for await _ in wake() {}
        #expect(await delegate.calls.count == 5)
    }

    @Test("B14 a wake does not end before an event that waits is handled, though others are transferred further on")
    func eventWaits() async throws {
        let delegate = RecordingDelegate(), killed = makeSession(nil)
        let other = try killed.downloadTask(with: try .init(url: "http://localhost/b"))
        let task = try await download(in: killed)
        other.resume()
        try await other.waitUntilAccepted()
        killed.disconnect()
        let wake = wake(), session = makeSession(delegate)
        for await _ in wake {}
        let number = task.taskIdentifier
        let calls: [RecordingDelegate.Call] = [.finished(number, contents: "x"), .completed(number, nil)]
        #expect(await delegate.calls == calls + [.finishedEvents])
        #expect(try await session.allTasks.map(\.taskIdentifier) == [other.taskIdentifier])
    }
}
