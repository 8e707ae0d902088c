import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Retries", .timeLimit(.minutes(1)))
struct RetryTests {
    private func makeDownloader(clock: ManualRetryClock) -> Downloader {
        var configuration = Downloader.Configuration()
        configuration.retryClock = clock
        return Downloader(configuration)
    }

    private func makeRetryingRequest(url: String) throws -> FetchRequest {
        var request = try FetchRequest(url: url)
        request.ignoresFailureList = true
        return request
    }

    @Test("L07 the back-off doubles up to its limit, is random below it, and respects Retry-After")
    func delays() {
        let policy = RetryPolicy()
        #expect(policy.delay(afterAttempt: 1, retryAfter: nil, random: 0.5) == .milliseconds(250))
        #expect(policy.delay(afterAttempt: 2, retryAfter: nil, random: 0.5) == .milliseconds(500))
        #expect(policy.delay(afterAttempt: 2, retryAfter: nil, random: 0) == .zero)
        #expect(policy.delay(afterAttempt: 3, retryAfter: nil, random: 0.5) == nil)
        #expect(policy.delay(afterAttempt: 1, retryAfter: .seconds(7), random: 0.5) == .seconds(7))
        #expect(policy.delay(afterAttempt: 1, retryAfter: .seconds(121), random: 0.5) == nil)
        var patient = policy
        patient.maximumAttempts = 1_000
        #expect(patient.delay(afterAttempt: 900, retryAfter: nil, random: 0.5) == .seconds(15))
    }

    @Test("L07 with ignoresFailureList a download is retried until the server recovers")
    func recovers() async throws {
        let count = Counter()
        let origin = try ScriptedOrigin { _ in
            switch count.next() {
            case 0: [.response(503, headers: ["Retry-After": "2", "Connection": "close"]), .close]
            case 1: [.head(200, headers: ["Content-Length": "9"]), .close]
            default: [.response(200, headers: [:], body: Fixture.image())]
            }
        }
        let clock = ManualRetryClock()
        let response = try await makeDownloader(clock: clock).fetch(makeRetryingRequest(url: origin.url))
        #expect(response.metrics.attemptCount == 3)
        try #require(clock.delays.count == 2)
        #expect(clock.delays[0] >= .seconds(2))
        #expect(clock.delays[1] < .seconds(1))
    }

    @Test("L07 without ignoresFailureList there is one attempt")
    func once() async throws {
        let origin = try ScriptedOrigin { _ in [.response(503)] }
        let clock = ManualRetryClock()
        let downloader = makeDownloader(clock: clock)
        let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: origin.url) }
        #expect(error?.httpStatus == 503)
        #expect(origin.requests.count == 1)
        #expect(clock.delays.isEmpty)
    }

    @Test("L07 a permanent failure is not retried", arguments: [404, 403, 410])
    func permanentFailure(_ status: Int) async throws {
        let origin = try ScriptedOrigin { _ in [.response(status)] }
        let clock = ManualRetryClock()
        let (downloader, request) = (makeDownloader(clock: clock), try makeRetryingRequest(url: origin.url))
        let error = await failure { () async throws(EideticError) in try await downloader.fetch(request) }
        #expect(error?.httpStatus == status)
        #expect(origin.requests.count == 1)
    }

    @Test("L07 a download is not retried if Retry-After exceeds the limit")
    func tooLong() async throws {
        let origin = try ScriptedOrigin { _ in [.response(429, headers: ["Retry-After": "86400"])] }
        let clock = ManualRetryClock()
        let (downloader, request) = (makeDownloader(clock: clock), try makeRetryingRequest(url: origin.url))
        let error = await failure { () async throws(EideticError) in try await downloader.fetch(request) }
        #expect(error?.httpStatus == 429)
        #expect(clock.delays.isEmpty)
    }

    @Test("L07 all downloads share one budget of retries")
    func budget() async throws {
        let origin = try ScriptedOrigin { _ in [.response(503)] }
        var configuration = Downloader.Configuration()
        configuration.retryClock = ManualRetryClock()
        configuration.retryBudget = 3
        let downloader = Downloader(configuration)
        for number in 0..<4 {
            let request = try makeRetryingRequest(url: "\(origin.url)/\(number)")
            let error = await failure { () async throws(EideticError) in try await downloader.fetch(request) }
            #expect(error?.httpStatus == 503)
        }
        #expect(origin.requests.count == 4 + 3)
    }

    @Test("L07 the back-off ends when the network changes")
    func networkChange() async throws {
        let count = Counter()
        let origin = try ScriptedOrigin { _ in
            count.next() == 0 ? [.response(503)] : [.response(200, headers: [:], body: Fixture.image())]
        }
        let clock = ManualRetryClock(holdsFirstWait: true)
        let (downloader, request) = (makeDownloader(clock: clock), try makeRetryingRequest(url: origin.url))
        let task = Task { try await downloader.fetch(request) }
        await clock.reached.wait()
        downloader.resetAfterNetworkChange()
        #expect(try await task.value.metrics.attemptCount == 2)
    }

    @Test("L07 a caller that cancels during the back-off returns at once")
    func cancel() async throws {
        let origin = try ScriptedOrigin { _ in [.response(503)] }
        let clock = ManualRetryClock(holdsFirstWait: true)
        let (downloader, request) = (makeDownloader(clock: clock), try makeRetryingRequest(url: origin.url))
        let task = Task { try await downloader.fetch(request) }
        await clock.reached.wait()
        task.cancel()
        await #expect(throws: EideticError.self) { try await task.value }
        #expect(origin.requests.count == 1)
    }

    /// A downloader to which an origin at a free port was refused five times, so that its circuit is open.
    private func makeDownloader(time: ManualTime) async throws -> (downloader: Downloader, port: Int) {
        var configuration = Downloader.Configuration()
        configuration.time = time
        let downloader = Downloader(configuration), port = try LoopbackPort.unused()
        for _ in 0..<5 {
            let error = await failure { () async throws(EideticError) in
                try await downloader.fetch(url: "http://127.0.0.1:\(port)")
            }
            #expect(error?.code == .connectionRefused)
        }
        return (downloader, port)
    }

    @Test("L07 the circuit of an origin opens after it could not be reached five times, for five seconds")
    func breaker() async throws {
        let time = ManualTime(), (downloader, port) = try await makeDownloader(time: time)
        let origin = try ScriptedOrigin(on: .port(port)) { _ in
            [.response(200, headers: [:], body: Fixture.image())]
        }
        let url = origin.url + "/other.png"
        let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: url) }
        #expect(error?.code == .connectionRefused)
        #expect(error?.isRemembered == true)
        let start = "\(url): not sent, because 127.0.0.1:\(port) could not be reached 5 times in a row; "
        #expect(error?.message.hasPrefix(start) == true)
        #expect(origin.requests.isEmpty)
        time.advance(by: .seconds(5))
        #expect(try await downloader.fetch(url: origin.url).status == 200)
        #expect(try await downloader.fetch(url: origin.url).status == 200)
    }

    @Test("L07 a half-open circuit refuses other downloads until the probe receives bytes")
    @MainActor
    func probe() async throws {
        let time = ManualTime(), (gate, isThere) = (Gate(), Gate())
        let (downloader, port) = try await makeDownloader(time: time)
        let origin = try ScriptedOrigin(on: .port(port)) { request in
            guard request.path == "/held" else { return [.response(200, headers: [:], body: Fixture.image())] }
            let head: ScriptedOrigin.Step = .head(200, headers: ["Content-Length": "1000"])
            return [
                .wait(gate), head, .send(Fixture.image(length: 10)), .wait(isThere),
                .send(Fixture.imageRemainder(from: 10)),
            ]
        }
        time.advance(by: .seconds(5))
        var request = try FetchRequest(url: origin.url + "/held")
        request.timeout = .seconds(500)
        let began = Gate()
        let held = Task.immediate { [request] in
            try await downloader.fetch(request) { if $0.received > 0 { began.open() } }.status
        }
        await origin.waitForRequests(count: 1)
        let refused = await failure { @Sendable () async throws(EideticError) in
            try await downloader.fetch(url: origin.url)
        }
        #expect(refused?.code == .connectionRefused)
        #expect(origin.requests.count == 1)
        gate.open()
        await began.wait()
        #expect(try await downloader.fetch(url: origin.url).status == 200)
        isThere.open()
        #expect(try await held.value == 200)
    }

    @Test("L07 a suspended probe blocks other downloads for five seconds at most")
    @MainActor
    func heldProbe() async throws {
        let time = ManualTime(), (downloader, port) = try await makeDownloader(time: time)
        let origin = try ScriptedOrigin(on: .port(port)) { _ in [.response(503)] }
        time.advance(by: .seconds(5))
        downloader.suspend(upTo: .low)
        let request = try FetchRequest(url: origin.url + "/held")
        let held = Task.immediate { try await downloader.fetch(request, priority: .low).status }
        let refused = await failure { @Sendable () async throws(EideticError) in
            try await downloader.fetch(url: origin.url)
        }
        #expect(refused?.code == .connectionRefused)
        time.advance(by: .seconds(5))
        let later = await failure { @Sendable () async throws(EideticError) in
            try await downloader.fetch(url: origin.url)
        }
        #expect(later?.httpStatus == 503)
        held.cancel()
        await #expect(throws: EideticError.self) { try await held.value }
    }

    /// The faults of one file, on a host that answers.
    private static let faults: [(String, [ScriptedOrigin.Step])] = [
        ("a wrong Content-Length", [.head(200, headers: ["Content-Length": "2000"]), .send(Fixture.image()), .close]),
        ("a cut chunk", [.head(200, headers: ["Transfer-Encoding": "chunked"]), .chunk(Fixture.image()), .close]),
        ("a reset", [.head(200, headers: ["Content-Length": "2000"]), .send(Fixture.image()), .reset]),
        ("no response", [.close]),
        ("an overloaded server", [.response(503)]),
    ]

    @Test("L07 a host that answers is not down: after eight broken files its fifty good ones load", arguments: faults)
    func brokenFiles(fault: String, steps: [ScriptedOrigin.Step]) async throws {
        let origin = try ScriptedOrigin { request in
            request.path.hasPrefix("/bad") ? steps : [.response(200, headers: [:], body: Fixture.image())]
        }
        let downloader = Downloader()
        for number in 0..<8 {
            let url = "\(origin.url)/bad/\(number)"
            let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: url) }
            #expect(error?.isTransient == true && error?.isRemembered == false, "\(fault)")
        }
        for number in 0..<50 { #expect(try await downloader.fetch(url: "\(origin.url)/good/\(number)").status == 200) }
    }

    @Test("L07 offline, no request is sent, and no failure is listed")
    func offline() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        let downloader = Downloader()
        downloader.isOffline = true
        let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: origin.url) }
        #expect(error?.code == .offline)
        #expect(downloader.failures.entries.isEmpty)
        downloader.isOffline = false
        #expect(try await downloader.fetch(url: origin.url).status == 200)
    }
}
