import EideticCore
import EideticHTTP
import EideticTestSupport
import EideticTransfer
import Testing

/// Requests that fill messages.
@Suite("Sizes of messages", .timeLimit(.minutes(1)))
struct MessageSizeTests {
    private let model = ModelService()
    private let url = "http://localhost/a"

    private var connectionCount: Int { model.state.withLock { $0.connectionCount } }

    @Test("B14 hundreds of tasks with long additional header fields are stored over one connection")
    func additionalFields() async throws {
        var configuration = BackgroundURLSession.Configuration(identifier: "s")
        configuration.httpAdditionalHeaders["Authorization"] = "Bearer \(String(repeating: "t", count: 300))"
        let provider = GatedProvider(model: model)
        let session = BackgroundURLSession(configuration: configuration, delegate: nil, provider: provider)
        let tasks = try (0..<400).map { try session.downloadTask(with: .init(url: "\(url)\($0)")) }
        for task in tasks { task.resume() }
        provider.gate.open()
        for task in tasks { try await task.waitUntilAccepted() }
        #expect(connectionCount == 1)
        #expect(model.requests.count == 400)
        #expect(model.requests.allSatisfy { $0.headers["Authorization"]?.utf8.count == 307 })
        session.disconnect()
    }

    @Test("B14 a task that no message can hold fails alone", arguments: [(65_000, 1), (70_000, 1), (1, 1_025)])
    func tooLong(length: Int, count: Int) async throws {
        let provider = GatedProvider(model: model)
        let session = BackgroundURLSession(
            configuration: .init(identifier: "s"),
            delegate: nil,
            provider: provider
        )
        var request = try BackgroundURLSession.Request(url: url)
        for number in 0..<count { request.headers.add(String(repeating: "v", count: length), for: "X-\(number)") }
        let tasks = [
            try session.downloadTask(with: .init(url: url)), try session.downloadTask(with: request),
            try session.downloadTask(with: .init(url: url)),
        ]
        for task in tasks { task.resume() }
        provider.gate.open()
        let isAccepted = length == 65_000
        if isAccepted {
            try await tasks[1].waitUntilAccepted()
        } else {
            let error = await #expect(throws: EideticError.self) { try await tasks[1].waitUntilAccepted() }
            #expect(error?.code == .limitExceeded)
        }
        try await tasks[0].waitUntilAccepted()
        try await tasks[2].waitUntilAccepted()
        #expect(connectionCount == 1)
        #expect(model.requests.count == (isAccepted ? 3 : 2))
        session.disconnect()
    }

    @Test("B14 a message that is too long fails with limitExceeded, and the connection goes on")
    func keepsConnection() async throws {
        let connection: TransferClient = try await model.connect()
        var request = TransferRequest(download: url)
        request.headers["X-Long"] = String(repeating: "v", count: 33_000)
        let error = await #expect(throws: EideticError.self) {
            try await connection.add([request, request], to: "s")
        }
        #expect(error?.code == .limitExceeded)
        #expect(try await connection.add([request], to: "s").count == 1)
        #expect(!connection.isLost)
        connection.close()
    }
}

/// A way to a model that is open when its gate is.
private final class GatedProvider: TransferServiceProvider {
    let gate = Gate()
    private let model: ModelService

    init(model: ModelService) { self.model = model }

    func connect() async throws(EideticError) -> TransferClient {
        await gate.wait()
        let connection: TransferClient = try await model.connect()
        return connection
    }
}
