import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

@Suite("the limits of the transfer process", .timeLimit(.minutes(1)))
struct ServiceLimitTests {
    /// Downloads a URL with the process, and then another one; returns the first event.
    private func events(_ url: String, of origin: ScriptedOrigin) async throws -> TransferEvent {
        let directory = try TemporaryDirectory(named: "limit")
        let process = try ServiceProcess(in: directory)
        let client = try process.connect()
        try await client.openSession(TransferSessionConfiguration(identifier: "s"))
        _ = try await client.add([TransferRequest(download: url)], to: "s")
        let log = EventLog()
        let observation = try await client.observe("s") { log.record($0) }
        await log.waitForEvents(1)
        _ = try await client.add([TransferRequest(download: origin.url + "/last")], to: "s")
        let events = await log.waitForEvents(2)
        withExtendedLifetime(observation) {}
        #expect(events[1].url == origin.url + "/last" && events[1].outcome.isFinished)
        return events[0]
    }

    @Test("B14 an event of the longest URL is delivered, and so are those after it", arguments: [32_767, 32_768])
    func longURLsAreDelivered(_ length: Int) async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let url = origin.url + "/" + String(repeating: "a", count: length - origin.url.utf8.count - 1)
        let event = try await events(url, of: origin)
        guard case .finished(let response) = event.outcome else { throw UnexpectedOutcome(event: event) }
        #expect(event.url == url && response.effectiveURL == url && response.headers["Content-Length"] == "1")
    }

    @Test("B14 an event after a redirect to a long URL is delivered", arguments: [30_000, 60_000])
    func longRedirectsAreDelivered(_ length: Int) async throws {
        let target = "/" + String(repeating: "b", count: length)
        let origin = try ScriptedOrigin { request in
            request.path.hasPrefix("/a") ? [.response(302, headers: ["Location": target])] : [.response(body: [1])]
        }
        let url = origin.url + "/" + String(repeating: "a", count: 32_000)
        let event = try await events(url, of: origin)
        guard case .finished(let response) = event.outcome else { throw UnexpectedOutcome(event: event) }
        // Both do not fit into a message where the target is long.
        #expect(response.effectiveURL == (length == 30_000 ? origin.url + target : url))
    }

    @Test("B14 an event of a failure with a long message is delivered")
    func longMessagesAreDelivered() async throws {
        let target = "ftp://127.0.0.1/" + String(repeating: "b", count: 60_000)
        let origin = try ScriptedOrigin { request in
            request.path.hasPrefix("/a") ? [.response(302, headers: ["Location": target])] : [.response(body: [1])]
        }
        let event = try await events(origin.url + "/" + String(repeating: "a", count: 32_000), of: origin)
        guard case .failed(let code, let message) = event.outcome else { throw UnexpectedOutcome(event: event) }
        #expect(code == "badRedirect" && message.utf8.count <= 4_100)
    }

    /// Returns a connection; `nil` if as many as can wait to be accepted.
    private func connect(to path: String) throws -> PacketSocket? {
        do throws(SystemError) {
            return try PacketSocket.connect(to: path)
        } catch {
            guard error.errorNumber == EAGAIN else { throw error }
            return nil
        }
    }

    @Test("B14 beyond the limit of connections, those that were accepted are served")
    func acceptedConnectionsAreServed() async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let directory = try TemporaryDirectory(named: "full")
        let process = try ServiceProcess(in: directory)
        let client = try process.connect()
        try await client.openSession(TransferSessionConfiguration(identifier: "s"))
        var others: [PacketSocket] = []
        while others.count < 260 {
            if let other = try connect(to: process.socketPath) {
                others.append(other)
            } else {
                // With each reply the process has accepted more.
                _ = try await client.transfers(in: nil)
            }
        }
        let log = EventLog()
        let observation = try await client.observe("s") { log.record($0) }
        _ = try await client.add([TransferRequest(download: origin.url + "/a")], to: "s")
        #expect(await log.waitForEvents(1)[0].outcome.isFinished)
        withExtendedLifetime(observation) {}
        withExtendedLifetime(others) {}
    }
}
