import EideticCore
import EideticTestSupport
import EideticTransfer
import Testing

/// Changes of tasks on their way to a model of the transfer process, and back.
@Suite("Changes of background sessions", .timeLimit(.minutes(1)))
struct SessionChangeTests {
    private let model = ModelService()
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func makeSession(_ delegate: RecordingDelegate?) throws -> BackgroundURLSession {
        BackgroundURLSession(configuration: .init(identifier: "s"), delegate: delegate, provider: model)
    }

    private func request(_ path: String = "/a") throws -> BackgroundURLSession.Request {
        try .init(url: "http://localhost\(path)")
    }

    @Test("B14 an upload whose file cannot be copied for now holds up no other change of its session")
    func uploadsHoldNothingUp() async throws {
        let gate = Gate()
        model.state.withLock { $0.uploadGate = gate }
        let path = try directory.write([1, 2, 3], to: "file")
        let session = try makeSession(RecordingDelegate())
        let upload = try session.uploadTask(with: try request("/up"), fromFile: path)
        upload.resume()
        _ = await model.wait { state in
            state.commands.contains { if case .add = $0 { true } else { false } } ? true : nil
        }
        let download = try session.downloadTask(with: try request("/down"))
        download.resume()
        try await download.waitUntilAccepted()
        // A change of the upload itself waits until it is added.
        upload.suspend()
        try model.finish(model.transfer(0), body: "down", in: directory)
        _ = await model.wait { $0.acknowledged.first }
        #expect(model.state.withLock { $0.added.count } == 1)
        gate.open()
        try await upload.waitUntilAccepted()
        _ = await model.wait { state in state.transfers.contains { $0.state == .paused } ? true : nil }
        #expect(model.requests.count == 2)
    }

    @Test("B14 after a restart a task that has not begun has its earliestBeginDate")
    func earliestBeginSurvives() async throws {
        let session = try makeSession(nil)
        let task = try session.downloadTask(with: try request())
        task.earliestBeginDate = Timestamp(nanoseconds: 4_000_000_000_000_000_000)
        task.resume()
        try await task.waitUntilAccepted()
        model.state.withLock { state in
            state.transfers[0].reasons = [WaitReason(.earliestBegin, text: "later")]
            state.transfers[0].nextAttempt = task.earliestBeginDate
        }
        session.disconnect()
        let next = try makeSession(nil)
        #expect(try await next.allTasks.map(\.earliestBeginDate) == [task.earliestBeginDate])
    }
}
