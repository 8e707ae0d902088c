import EideticCore
import EideticFetch
import EideticTestSupport
import Glibc
import Testing

/// A network that the test takes away and gives back.
private final class TestPath: NetworkPath {
    private let state = Guarded(false)

    var isAvailable: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// A network client that fails with an error as long as the path is not available.
private struct TestNetwork: NetworkClient {
    let path: TestPath
    let error: EideticError
    let requests = Counter()

    func response(to request: FetchRequest) async throws(EideticError) -> FetchResponse {
        requests.next()
        guard path.isAvailable else { throw error }
        return FetchResponse(status: 200, headers: [:], bytes: Fixture.image(), effectiveURL: request.url)
    }
}

@Suite("Downloads that wait for the network", .timeLimit(.minutes(1)))
struct ConnectivityTests {
    private let path = TestPath()
    private let waiting = Gate()

    private func makeDownloader(
        error: EideticError = EideticError(.hostNotFound, message: "not found"),
        waits: Bool = true
    ) -> (Downloader, TestNetwork) {
        var configuration = Downloader.Configuration()
        let network = TestNetwork(path: path, error: error)
        (configuration.network, configuration.networkPath) = (network, path)
        configuration.observesNetwork = false
        configuration.waitsForConnectivity = waits
        configuration.onWaitingForConnectivity = { [waiting] _ in waiting.open() }
        return (Downloader(configuration), network)
    }

    private static let lost = [
        EideticError(.hostNotFound, message: "not found"),
        EideticError(.connectionRefused, message: "no route", systemErrorNumber: ENETUNREACH),
        EideticError(.timedOut, message: "timed out"),
    ]

    @Test("L07 without a network a download waits, and is loaded as soon as there is one", arguments: lost)
    func waits(error: EideticError) async throws {
        let (downloader, network) = makeDownloader(error: error)
        let task = Task { try await downloader.fetch("http://example.test/a.png") }
        await waiting.wait()
        // A change that does not bring the network back is none to go on for.
        downloader.resetAfterNetworkChange()
        path.isAvailable = true
        downloader.resetAfterNetworkChange()
        #expect(try await task.value.status == 200)
        #expect(network.requests.count == 2)
    }

    @Test(
        "L07 a download that waits ends when it is cancelled, or the downloader is offline",
        arguments: [true, false]
    )
    func ends(isCancelled: Bool) async throws {
        let (downloader, _) = makeDownloader()
        let task = Task {
            await failure { () async throws(EideticError) in
                try await downloader.fetch("http://example.test/a.png")
            }
        }
        await waiting.wait()
        if isCancelled {
            task.cancel()
        } else {
            downloader.isOffline = true
            downloader.resetAfterNetworkChange()
        }
        #expect(await task.value?.code == (isCancelled ? .cancelled : .hostNotFound))
    }

    @Test(
        "L07 with a network, with a host that refuses, and by default a download fails at once",
        arguments: [0, 1, 2]
    )
    func fails(kind: Int) async throws {
        let error =
            kind == 1
            ? EideticError(.connectionRefused, message: "refused", systemErrorNumber: ECONNREFUSED)
            : EideticError(.hostNotFound, message: "not found")
        let failing = TestPath()
        failing.isAvailable = kind == 0
        var configuration = Downloader.Configuration()
        configuration.network = TestNetwork(path: TestPath(), error: error)
        configuration.networkPath = failing
        configuration.waitsForConnectivity = kind != 2
        let downloader = Downloader(configuration)
        let found = await failure { () async throws(EideticError) in
            try await downloader.fetch("http://example.test/a.png")
        }
        #expect(found?.code == error.code)
    }
}

@Suite("The program's own rule for retries", .timeLimit(.minutes(1)))
struct RetryRuleTests {
    @Test("L07 the rule decides about each error, with the delay and the number of attempts that it wants")
    func decides() async throws {
        let count = Counter(), clock = ManualRetryClock()
        let origin = try ScriptedOrigin { _ in
            if count.next() < 3 { return [.response(404, headers: ["Cache-Control": "no-store"])] }
            return [.response(200, headers: [:], body: Fixture.image())]
        }
        let attempts = Guarded<[FetchAttempt]>([])
        var configuration = Downloader.Configuration()
        configuration.retryClock = clock
        configuration.retryRule = { attempt in
            attempts.withLock { $0.append(attempt) }
            return attempt.error.httpStatus == 404 ? .seconds(attempt.count) : attempt.standardDelay
        }
        #expect(try await Downloader(configuration).fetch(url: origin.url).status == 200)
        #expect(clock.delays == [.seconds(1), .seconds(2), .seconds(3)])
        #expect(attempts.withLock { $0.map(\.count) } == [1, 2, 3])
        #expect(attempts.withLock { $0.allSatisfy { $0.standardDelay == nil } })
    }

    @Test("L07 a rule that always asks for another attempt ends after a hundred; Retry-After is the least delay")
    func bounded() async throws {
        let clock = ManualRetryClock()
        let origin = try ScriptedOrigin { _ in [.response(503, headers: ["Retry-After": "7"])] }
        var configuration = Downloader.Configuration()
        configuration.retryClock = clock
        configuration.retryRule = { _ in .seconds(-1) }
        let downloader = Downloader(configuration)
        let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: origin.url) }
        #expect(error?.httpStatus == 503 && origin.requests.count == 100)
        #expect(clock.delays.count == 99 && Set(clock.delays) == [.seconds(7)])
    }

    @Test("L07 the rule is not asked about a POST, nor after a cancellation")
    func unasked() async throws {
        let origin = try ScriptedOrigin { _ in [.response(503)] }
        let asked = Counter()
        var configuration = Downloader.Configuration()
        configuration.retryRule = { _ in
            asked.next()
            return .zero
        }
        var request = FetchRequest(origin.url)
        request.method = "POST"
        let downloader = Downloader(configuration)
        let error = await failure { [request] () async throws(EideticError) in try await downloader.fetch(request) }
        #expect(error?.httpStatus == 503 && origin.requests.count == 1 && asked.count == 0)
    }
}
