import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc

/// An observer that keeps what it received, and lets a test wait for it.
final class EventLog: Sendable {
    private struct State {
        var notifications: [TransferNotification] = []
        var waiters: [(condition: @Sendable ([TransferNotification]) -> Bool, gate: Gate)] = []
    }

    private let state = Guarded(State())

    var notifications: [TransferNotification] { state.withLock { $0.notifications } }

    var events: [TransferEvent] {
        notifications.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    func record(_ notification: TransferNotification) {
        let gates = state.withLock { state in
            state.notifications.append(notification)
            let all = state.notifications
            let reached = state.waiters.filter { $0.condition(all) }
            state.waiters.removeAll { $0.condition(all) }
            return reached.map(\.gate)
        }
        for gate in gates { gate.open() }
    }

    /// Removes an event.
    func remove(_ number: UInt64) {
        state.withLock { state in
            state.notifications.removeAll { if case .event(let event) = $0 { event.number == number } else { true } }
        }
    }

    func wait(until condition: @escaping @Sendable ([TransferNotification]) -> Bool) async {
        let gate = Gate()
        let isReached = state.withLock { state in
            if condition(state.notifications) { return true }
            state.waiters.append((condition, gate))
            return false
        }
        if !isReached { await gate.wait() }
    }

    /// Waits until `count` different transfers have ended, and returns their events.
    @discardableResult
    func waitForEvents(_ count: Int) async -> [TransferEvent] {
        await wait { notifications in
            let numbers = notifications.compactMap { if case .event(let event) = $0 { event.number } else { nil } }
            return Set(numbers).count >= count
        }
        return events
    }
}

/// A service of this process in a temporary directory, with one session and its events.
final class ServiceFixture: Sendable {
    let directory: TemporaryDirectory
    let service: EngineService
    let log = EventLog()
    private let observation = Guarded<TransferObservation?>(nil)

    init(
        directory: TemporaryDirectory? = nil,
        session: TransferSessionConfiguration = TransferSessionConfiguration(identifier: "s"),
        application: String = "org.example.Test",
        configure: (inout TransferEngineConfiguration) -> Void = { _ in }
    ) async throws {
        self.directory = try directory ?? TemporaryDirectory()
        var configuration = TransferEngineConfiguration(directory: self.directory.path(of: "transfers"))
        configuration.backoff.firstBound = .milliseconds(20)
        configuration.backoff.lastBound = .milliseconds(100)
        configure(&configuration)
        service = try await EngineService.open(configuration, application: application)
        try await service.openSession(session)
        let observed = try await service.observe(session.identifier) { [log] in log.record($0) }
        observation.withLock { $0 = observed }
    }

    /// Adds one transfer.
    func add(_ request: TransferRequest) async throws -> TransferIdentifier {
        try await service.add([request], to: "s")[0]
    }

    /// Adds a download, waits for its end, and returns the response and the bytes of its file.
    func download(_ url: String) async throws -> (response: TransferEvent.Response, bytes: [UInt8]) {
        _ = try await add(TransferRequest(download: url))
        return try finished(await log.waitForEvents(1)[0])
    }

    func finished(_ event: TransferEvent) throws -> (response: TransferEvent.Response, bytes: [UInt8]) {
        guard case .finished(let response) = event.outcome else { throw UnexpectedOutcome(event: event) }
        return (response, try FileSystem().contents(of: response.path))
    }

    /// Ends the service, so that another fixture can open the directory.
    func close() async {
        observation.withLock { $0 = nil }
        await service.close()
    }
}

struct UnexpectedOutcome: Error { let event: TransferEvent }

/// Counts requests.
final class Counter: Sendable {
    private let count = Guarded(0)

    /// Returns the number of earlier calls.
    func next() -> Int {
        count.withLock { count in
            defer { count += 1 }
            return count
        }
    }
}

enum Body {
    /// Bytes that depend on a number, and do not repeat.
    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SplitMix(state: seed)
        return generator.bytes(count)
    }
}

extension SplitMix {
    mutating func next(below limit: UInt64) -> UInt64 { next(upperBound: limit) }
}

extension ScriptedOrigin.Request {
    /// The first byte of the requested range; `nil` without one.
    var rangeStart: Int? {
        headers["range"].flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) }
    }
}

extension ScriptedOrigin.Step {
    /// The response to a request for `body` with `tag`: whole, or from the requested byte on if the tag matches.
    static func ranged(_ request: ScriptedOrigin.Request, body: [UInt8], tag: String) -> Self {
        guard let start = request.rangeStart, request.headers["if-range"] == tag else {
            return .response(200, headers: ["ETag": tag], body: body)
        }
        guard start < body.count else {
            return .response(416, headers: ["Content-Range": "bytes */\(body.count)", "ETag": tag])
        }
        let range = "bytes \(start)-\(body.count - 1)/\(body.count)"
        return .response(206, headers: ["ETag": tag, "Content-Range": range], body: Array(body[start...]))
    }

    /// A response that announces `body`, and ends after `count` bytes.
    static func broken(_ body: [UInt8], after count: Int, tag: String?) -> [Self] {
        let tagLine = tag.map { "ETag: \($0)\r\n" } ?? ""
        let head = "HTTP/1.1 200 OK\r\n\(tagLine)Content-Length: \(body.count)\r\n\r\n"
        return [.send(Array(head.utf8) + body.prefix(count)), .close]
    }
}
