import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Order of downloads", .timeLimit(.minutes(1)))
struct OrderTests {
    /// Requests /1 … /14 in turn with one slot, while the first is delayed; returns the order at the server.
    @MainActor
    private func requestOrder(_ executionOrder: Downloader.ExecutionOrder? = nil) async throws -> [Int] {
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            (request.path == "/1" ? [.wait(gate)] : []) + [.response(200, headers: [:], body: Fixture.image())]
        }
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = 1
        if let executionOrder { configuration.executionOrder = executionOrder }
        let downloader = Downloader(configuration)
        let tasks = try (1...14).map { number in
            let request = try FetchRequest(url: "\(origin.url)/\(number)")
            return Task.immediate { _ = try await downloader.fetch(request) }
        }
        #expect(downloader.counts == (waiting: 13, running: 1))
        gate.open()
        for task in tasks { try await task.value }
        return origin.requests.compactMap { Int($0.path.dropFirst()) }
    }

    @Test("L05 last in, first out: 1, then 14 down to 2")
    func lastInFirstOut() async throws {
        #expect(try await requestOrder(.lastInFirstOut) == [1] + (2...14).reversed())
    }

    @Test("L05 by default first in, first out: 1 to 14")
    func firstInFirstOut() async throws {
        #expect(try await requestOrder() == Array(1...14))
    }

    @Test("L03 six downloads run at once, and more after the limit is raised")
    @MainActor
    func limit() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { _ in [.wait(gate), .response(200, headers: [:], body: Fixture.image())] }
        var configuration = Downloader.Configuration()
        configuration.maximumPerHost = 20
        let downloader = Downloader(configuration)
        let tasks = try (1...20).map { number in
            let request = try FetchRequest(url: "\(origin.url)/\(number)")
            return Task.immediate { _ = try await downloader.fetch(request) }
        }
        await origin.waitForRequests(count: 6)
        #expect(downloader.counts == (waiting: 14, running: 6))
        downloader.maximumConcurrent = 9
        await origin.waitForRequests(count: 9)
        #expect(downloader.counts == (waiting: 11, running: 9))
        gate.open()
        for task in tasks { try await task.value }
        #expect(downloader.counts == (waiting: 0, running: 0))
        let late = try FetchRequest(url: "\(origin.url)/late")
        let metrics = try await downloader.fetch(late).metrics
        #expect(metrics.queued <= metrics.total)
    }

    @Test("L22 L03 a suspended download leaves its place to others, of which no more run than the limit")
    @MainActor
    func suspendedPlace() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { _ in [.wait(gate), .response(200, headers: [:], body: Fixture.image())] }
        var configuration = Downloader.Configuration()
        (configuration.maximumConcurrent, configuration.maximumPerHost) = (2, 20)
        let downloader = Downloader(configuration)
        func start(_ number: Int, priority: LoadPriority) throws -> Task<Void, any Error> {
            let request = try FetchRequest(url: "\(origin.url)/\(number)")
            return Task.immediate { _ = try await downloader.fetch(request, priority: priority) }
        }
        let suspended = try start(0, priority: .low)
        downloader.suspend(upTo: .low)
        let tasks = try (1...5).map { try start($0, priority: .normal) }
        #expect(downloader.counts == (waiting: 3, running: 3))
        gate.open()
        for task in tasks { try await task.value }
        downloader.resume()
        try await suspended.value
    }

    @Test("L02 999 of 1,000 callers cancel, and the last one gets the response of the one request")
    @MainActor
    func leaving() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "1000"]), .send(Fixture.image(length: 10)), .wait(gate),
                .send(Fixture.imageRemainder(from: 10)),
            ]
        }
        let downloader = Downloader()
        let request = try FetchRequest(url: "\(origin.url)/a.png")
        // Each caller joins before the next one starts: after all others have cancelled, a new request would be sent.
        let tasks = (0..<1_000).map { _ in Task.immediate { try await downloader.fetch(request) } }
        await origin.waitForRequests(count: 1)
        for task in tasks.dropLast() { task.cancel() }
        for task in tasks.dropLast() {
            let error = await #expect(throws: EideticError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
        gate.open()
        #expect(try await tasks[999].value.bytes == Fixture.image())
        #expect(origin.requests.count == 1)
    }

    @Test("L02 the last caller that cancels ends the download, in the queue and in progress")
    @MainActor
    func abandons() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { _ in [.head(200), .send(Fixture.image()), .wait(gate)] }
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = 1
        let downloader = Downloader(configuration)
        let requests = try (1...2).map { try FetchRequest(url: "\(origin.url)/\($0)") }
        let running = Task.immediate { try await downloader.fetch(requests[0]) }
        let waiting = Task.immediate { try await downloader.fetch(requests[1]) }
        await origin.waitForRequests(count: 1)
        waiting.cancel()
        await #expect(throws: EideticError.self) { try await waiting.value }
        #expect(downloader.counts == (waiting: 0, running: 1))
        running.cancel()
        await #expect(throws: EideticError.self) { try await running.value }
        // The next download succeeds only if the slot is free.
        let third = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        #expect(try await downloader.fetch(url: third.url).status == 200)
        #expect(origin.requests.map(\.path) == ["/1"])
    }
}
