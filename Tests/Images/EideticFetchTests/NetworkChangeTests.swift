import EideticCore
import EideticFetch
import EideticTestSupport
import Glibc
import Testing

@Suite("Network changes", .timeLimit(.minutes(1)))
struct NetworkChangeTests {
    /// The changes observed in a separate network namespace.
    private enum Observation: Sendable { case noNamespace(String), changes([Bool]) }

    private static func observeChanges() -> Observation {
        guard let socket = RouteSocket() else { return .noNamespace("no route socket") }
        var changes = [socket.readChanges()]
        for change in [NetworkNamespace.AddressChange.add, .replace, .remove, .add] {
            guard NetworkNamespace.change([198, 51, 100, 1], by: change) else {
                return .noNamespace(SystemError.message(for: errno))
            }
            changes.append(socket.readChanges())
        }
        // A socket that is opened later ignores existing addresses.
        let late = RouteSocket()
        _ = NetworkNamespace.change([198, 51, 100, 1], by: .replace)
        return .changes(changes + [late?.readChanges() ?? true])
    }

    @Test("L07 a new address is a change; an existing, repeated or removed one is none")
    func arrival() async throws {
        switch await NetworkNamespace.run(Self.observeChanges) {
        case nil: try Test.cancel("no network namespace here")
        case .noNamespace(let reason): try Test.cancel("no network namespace here: \(reason)")
        case .changes(let heard): #expect(heard == [false, true, false, false, true, false])
        }
    }

    @Test("L07 a download without a network is retried when an address appears, and the failure list is cleared")
    func resumesWithNetwork() async throws {
        let clock = ManualRetryClock(holdsFirstWait: true)
        let optionalPlace = await NetworkNamespace.run { () -> Place? in
            guard NetworkNamespace.bringUp(), let origin = try? ScriptedOrigin(on: .any, script: Self.respond) else {
                return nil
            }
            var configuration = Downloader.Configuration()
            configuration.alwaysRetries = true
            configuration.retryClock = clock
            return Place(origin: origin, downloader: Downloader(configuration))
        }
        guard let optionalPlace, let place = optionalPlace else {
            try Test.cancel("no network namespace here")
        }
        let (downloader, port) = (place.downloader, place.origin.port)
        let error = await failure { () async throws(EideticError) in
            try await downloader.fetch(url: "http://127.0.0.1:\(port)/missing")
        }
        #expect(error?.httpStatus == 404)
        #expect(downloader.failures.entries.count == 1)
        let far = try FetchRequest(url: "http://198.51.100.1:\(port)/a.png")
        let task = Task { try await downloader.fetch(far) }
        await clock.reached.wait()
        #expect(try await downloader.fetch(url: "http://127.0.0.1:\(port)/arrive").status == 200)
        #expect(try await task.value.metrics.attemptCount == 2)
        #expect(downloader.failures.entries.isEmpty)
    }

    /// A server and a downloader whose threads run in a separate network namespace.
    private struct Place: Sendable {
        let origin: ScriptedOrigin
        let downloader: Downloader
    }

    private static func respond(to request: ScriptedOrigin.Request) -> [ScriptedOrigin.Step] {
        if request.path == "/missing" { return [.response(404)] }
        if request.path == "/arrive" { _ = NetworkNamespace.addAddress([198, 51, 100, 1]) }
        return [.response(200, headers: [:], body: Fixture.image())]
    }
}
