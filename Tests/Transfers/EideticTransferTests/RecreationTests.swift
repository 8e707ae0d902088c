import EideticCore
import EideticTestSupport
import EideticTransfer
import Testing

/// Sessions that are created again when they have become invalid.
@Suite("Recreated sessions", .serialized, .timeLimit(.minutes(1)))
struct RecreationTests {
    private let place: ServicePlace

    init() throws { place = try ServicePlace() }

    @Test("B14 didBecomeInvalid can create the session again, which has the identifier")
    func createsAgain() async throws {
        let server = try NumberedServer(size: 1_000)
        let configuration = place.configuration("again")
        var delegate = RecordingDelegate()
        var session = try BackgroundURLSession(configuration: configuration, delegate: delegate)
        for round in 0..<5 {
            let task = try session.downloadTask(with: .init(url: "\(server.url)/\(round)"))
            task.resume()
            #expect(try await task.value(movingFileTo: place.directory.path(of: "file")).statusCode == 200)
            let next = RecordingDelegate()
            session = try await replace(session, toldTo: delegate, by: next)
            delegate = next
        }
        #expect(try await session.allTasks.isEmpty)
        session.invalidateAndCancel()
    }

    /// Invalidates a session, and returns the one that its last callback has created.
    private func replace(
        _ session: BackgroundURLSession,
        toldTo delegate: RecordingDelegate,
        by next: RecordingDelegate
    ) async throws -> BackgroundURLSession {
        let configuration = session.configuration
        let result: Result<BackgroundURLSession, any Error> = await withCheckedContinuation { continuation in
            Task { @MainActor in
                delegate.hook = { call in
                    guard case .invalid = call else { return }
                    continuation.resume(
                        returning: Result { try BackgroundURLSession(configuration: configuration, delegate: next) }
                    )
                }
                session.finishTasksAndInvalidate()
            }
        }
        return try result.get()
    }
}
