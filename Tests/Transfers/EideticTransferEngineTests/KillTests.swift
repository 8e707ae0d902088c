import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

/// An origin of changing files that cuts off a tenth of its responses.
private final class UnreliableOrigin: Sendable {
    let fileCount: Int
    private let seeds = Guarded<[String: UInt64]>([:])
    /// The numbers of requests, and of files whose end the application has handled.
    private let progress = Monitor((requests: 0, handled: 0))
    private let origin = Guarded<ScriptedOrigin?>(nil)

    init(fileCount: Int) throws {
        self.fileCount = fileCount
        let server = try ScriptedOrigin { [unowned self] request in respond(to: request) }
        origin.withLock { $0 = server }
    }

    deinit { origin.withLock { $0 }?.stop() }

    var url: String { origin.withLock { $0?.url ?? "" } }

    static func body(_ path: String, version: UInt64) -> [UInt8] {
        let number = UInt64(path.drop { !$0.isNumber }) ?? 0
        // From tiny to a megabyte and a half.
        return Body.bytes(Int(number * number % 37) * 40_000 + Int(version) * 7, seed: number * 1_000 + version)
    }

    private func respond(to request: ScriptedOrigin.Request) -> [ScriptedOrigin.Step] {
        let count = progress.withLock { progress in
            progress.requests += 1
            return progress.requests
        }
        progress.broadcast()
        let version = seeds.withLock { seeds in
            // A quarter of the resources changes while they are transferred.
            if count % 40 == 39 { seeds[request.path, default: 1] += 1 }
            return seeds[request.path, default: 1]
        }
        let body = Self.body(request.path, version: version)
        let tag = "\"\(request.path)-\(version)\""
        guard count % 10 == 9, body.count > 10 else { return [.ranged(request, body: body, tag: tag)] }
        return ScriptedOrigin.Step.broken(body, after: body.count * (count % 7) / 7, tag: tag)
    }

    func recordHandled() {
        progress.withLock { $0.handled += 1 }
        progress.broadcast()
    }

    /// Blocks until there were `count` further requests, or all files are handled.
    func waitForRequests(_ count: Int) {
        let goal = progress.withLock { $0.requests } + count
        progress.wait { [fileCount] in $0.requests >= goal || $0.handled == fileCount ? () : nil }
    }

    /// Returns a Boolean value indicating whether bytes are one version of a file that there was.
    func isVersion(_ bytes: [UInt8], of path: String) -> Bool {
        let last = seeds.withLock { $0[path, default: 1] }
        let digest = Digest(sha256: bytes)
        return (1...last).contains { Digest(sha256: Self.body(path, version: $0)) == digest }
    }
}

@Suite("kills of the transfer process", .timeLimit(.minutes(30)))
struct KillTests {
    /// The events that the application has received, by their transfer.
    private final class Inbox: Sendable {
        let log = EventLog()
        let handled = Guarded<[UInt64: UInt64]>([:])
        let observation = Guarded<TransferObservation?>(nil)
    }

    @Test(
        "B14 after kills at random every file is one version of the server, and every event came and was acknowledged"
    )
    func filesAndEventsSurviveKills() async throws {
        let killGoal = Torture.repetitions(6, full: 1_000)
        var (kills, round) = (0, 0)
        var generator = SplitMix(state: 7)
        while kills < killGoal {
            round += 1
            kills += try await runRound(round, generator: &generator)
        }
        #expect(kills >= killGoal)
    }

    /// Transfers all files of an origin while the process is killed; returns the number of kills.
    private func runRound(_ round: Int, generator: inout SplitMix) async throws -> Int {
        let origin = try UnreliableOrigin(fileCount: 60)
        let directory = try TemporaryDirectory(named: "kill")
        let process = try ServiceProcess(in: directory)
        let inbox = Inbox()
        var client = try await connect(to: process, inbox: inbox)
        var missing = Set(0..<origin.fileCount)
        var (kills, isDone) = (0, false)
        while !isDone {
            let gate = Gate()
            // A moment after some requests, so that each life of the process makes progress, however slow it is.
            let count = Int(generator.next(below: 30)) + 1
            Thread.start(name: "killer") {
                origin.waitForRequests(count)
                RandomMoment.pass(within: .milliseconds(5))
                process.kill()
                gate.open()
            }
            await work(with: client, origin: origin, inbox: inbox, missing: &missing)
            await gate.wait()
            kills += 1
            try process.start()
            client = try await connect(to: process, inbox: inbox)
            let rest = try await client.transfers(in: "s")
            isDone = missing.isEmpty && rest.isEmpty
        }
        try await check(inbox, origin: origin, client: client)
        return kills
    }

    /// Connects and observes the session, until a connection holds.
    private func connect(to process: ServiceProcess, inbox: Inbox) async throws -> TransferClient {
        let client = try process.connect()
        try await client.openSession(TransferSessionConfiguration(identifier: "s"))
        let observation = try await client.observe("s") { inbox.log.record($0) }
        inbox.observation.withLock { $0 = observation }
        return client
    }

    /// Adds what is missing, and handles events, until the connection ends.
    private func work(
        with client: TransferClient,
        origin: UnreliableOrigin,
        inbox: Inbox,
        missing: inout Set<Int>
    ) async {
        do {
            // The reply to an addition may have been lost with the connection.
            for status in try await client.transfers(in: "s") { missing.remove(Int(status.note[0])) }
            for transfer in inbox.handled.withLock({ Array($0.keys) }) { missing.remove(Int(transfer)) }
            let numbers = missing.sorted()
            var requests: [TransferRequest] = []
            for number in numbers {
                var request = TransferRequest(download: "\(origin.url)/\(number)")
                request.note = [UInt8(number)]
                requests.append(request)
            }
            if !requests.isEmpty { _ = try await client.add(requests, to: "s") }
            missing = []
            while true { try await handleEvents(of: client, origin: origin, inbox: inbox) }
        } catch {
            // The process was killed.
        }
    }

    private func handleEvents(of client: TransferClient, origin: UnreliableOrigin, inbox: Inbox) async throws {
        for event in inbox.log.events {
            let file = UInt64(event.note[0])
            let earlier = inbox.handled.withLock { $0[file] }
            #expect(earlier == nil || earlier == event.number, "\(file) has ended twice")
            if earlier == nil {
                guard case .finished(let response) = event.outcome else { throw UnexpectedOutcome(event: event) }
                let bytes = try FileSystem().contents(of: response.path)
                #expect(origin.isVersion(bytes, of: "/\(file)"), "\(file) is not a version of the server")
                #expect(bytes.count == response.length)
                inbox.handled.withLock { $0[file] = event.number }
                origin.recordHandled()
            }
            try await client.acknowledge([event.number])
            inbox.log.remove(event.number)
        }
        if inbox.log.events.isEmpty { _ = try await client.transfers(in: nil) }
    }

    private func check(_ inbox: Inbox, origin: UnreliableOrigin, client: TransferClient) async throws {
        let handled = inbox.handled.withLock { $0 }
        #expect(handled.count == origin.fileCount)
        #expect(Set(handled.values).count == origin.fileCount)
        #expect(try await client.transfers(in: nil).isEmpty)
    }
}
