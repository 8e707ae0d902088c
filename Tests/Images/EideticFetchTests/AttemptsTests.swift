import EideticCore
@testable import EideticFetch
import Testing

@Suite("Attempts of a download")
struct AttemptsTests {
    private func attempts(retrying: Bool = true) throws -> Attempts {
        var request = try FetchRequest(url: "http://localhost/a")
        request.ignoresFailureList = retrying
        return Attempts(of: request, configuration: Downloader.Configuration())
    }

    private func failure(_ code: EideticError.Code, wasStopped: Bool = false) -> DownloadFailure {
        DownloadFailure(error: EideticError(code, message: "failed"), wasStopped: wasStopped)
    }

    @Test("L07 a transient failure is repeated after a delay, while the policy and the budget allow it")
    func transient() throws {
        var attempts = try attempts()
        #expect(attempts.next(after: failure(.timedOut), random: 0) { false } == .stop)
        guard case .retry = attempts.next(after: failure(.timedOut), random: 0.5, budget: { true }) else {
            Issue.record("not repeated"); return
        }
        #expect(attempts.count == 2)
        #expect(attempts.next(after: failure(.corrupt), random: 0.5) { true } == .stop)
        var single = try self.attempts(retrying: false)
        #expect(single.next(after: failure(.timedOut), random: 0.5) { true } == .stop)
    }

    @Test("L07 a stop of the process costs three attempts nothing, and then counts as a failure")
    func stopped() throws {
        var attempts = try attempts(retrying: false)
        for _ in 0..<3 {
            #expect(attempts.next(after: failure(.connectionLost, wasStopped: true), random: 0) { false } == .again)
        }
        #expect(attempts.next(after: failure(.connectionLost, wasStopped: true), random: 0) { false } == .stop)
    }
}

/// The circuit of an origin, without a server.
@Suite("Circuit breaker")
struct CircuitBreakerTests {
    /// Forty requests that wait for one connection fail together when its handshake is lost.
    @Test(
        "L07 connections that are lost while another exchange fails do not open the circuit; other failures do",
        arguments: [EideticError.Code.connectionLost, .connectionRefused, .hostNotFound, .timedOut]
    )
    func simultaneousFailures(code: EideticError.Code) throws {
        let request = try FetchRequest(url: "http://a/b")
        let error = EideticError(code, message: "x")
        var breaker = CircuitBreaker()
        func fail(startedAt startTime: Duration, at now: Duration) {
            breaker.recordResult(
                of: request.origin,
                error: error,
                isUnreachable: true,
                startTime: startTime,
                now: now
            )
        }
        func isOpen(at now: Duration) -> Bool {
            (try? breaker.admit(request.origin, url: request.url, now: now, isForced: false)) == nil
        }
        for index in 0..<40 { fail(startedAt: .zero, at: .milliseconds(30 + index)) }
        #expect(isOpen(at: .milliseconds(70)) == (code != .connectionLost))
        for index in 1..<5 { fail(startedAt: .milliseconds(index * 100), at: .milliseconds(index * 100 + 50)) }
        #expect(isOpen(at: .milliseconds(500)))
    }
}
