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
