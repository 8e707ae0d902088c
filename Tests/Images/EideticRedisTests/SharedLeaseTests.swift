#if Redis
import Eidetic
import EideticCore
import EideticRedis
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Leases of a pipeline", .timeLimit(.minutes(2)), .needsRedis, .needsNginx)
struct SharedLeaseTests {
    @Test("L09 a load that is cancelled while it acquires the lease does not leave it behind")
    func cancelledAcquisition() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let request = try fleet.serve("a.png"), (redis, isAcquiring) = (fleet.redis, Gate())
        let tier = try fleet.makeTier { ($0.timeout, $0.leaseDuration) = (.seconds(60), .seconds(600)) }
        // The server receives the command only after the load was cancelled.
        let recorder = RecordingTier(tier) {
            redis.send(SIGSTOP)
            isAcquiring.open()
        }
        let machine = try fleet.makeMachine { $0.sharedTier = recorder }
        let load = Task { try await machine.image(for: request) }
        await isAcquiring.wait()
        load.cancel()
        _ = await load.result
        redis.send(SIGCONT)
        try await eventually("the lease is renewed once") {
            try await redis.command("INFO", "commandstats").contains("cmdstat_eval:calls=1")
        }
        #expect(try await redis.command("DBSIZE") == "0")
        #expect(try await fleet.makeMachine().response(for: request).source == .network)
    }

    @Test("L09 a load that is cancelled hands its lease on to one other machine")
    func cancelledHolder() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300; limit_rate 4k;")
        let request = try fleet.serve("a.png", width: 150, height: 100, isNoisy: true)
        let holder = try fleet.makeMachine()
        let load = Task { try await holder.image(for: request) }
        try await eventually("a lease is held") { try await fleet.redis.command("KEYS", "*:lease") != "" }
        let recorders = try (0..<4).map { _ in RecordingTier(try fleet.makeTier()) }
        let machines = try recorders.map { recorder in try fleet.makeMachine { $0.sharedTier = recorder } }
        let sources = try await withThrowingTaskGroup(of: ImageSource.self) { group in
            for machine in machines { group.addTask { try await machine.response(for: request).source } }
            try await eventually("each machine looks up several times") { recorders.allSatisfy { $0.keys.count > 2 } }
            load.cancel()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sources.count { $0 == .network } == 1, "\(sources)")
    }

    @Test("L09 a load of high priority does not wait for another machine")
    func highPriority() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300; limit_rate 4k;")
        let request = try fleet.serve("a.png", width: 150, height: 100, isNoisy: true)
        let holder = try fleet.makeMachine(), recorder = RecordingTier(try fleet.makeTier())
        let load = Task { try await holder.image(for: request) }
        try await eventually("a lease is held") { try await fleet.redis.command("KEYS", "*:lease") != "" }
        let urgent = ImageRequest(request.url, priority: .high)
        #expect(try await fleet.makeMachine { $0.sharedTier = recorder }.response(for: urgent).source == .network)
        #expect(recorder.keys.count == 2)
        _ = try await load.value
    }

    @Test("L09 after a broken image all other machines try at once")
    func brokenImage() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let whole = try Fleet.png(width: 64, height: 48)
        let url = try fleet.origin.addFile(Array(whole.prefix(whole.count / 2)), at: "a.png")
        let recorder = RecordingTier(try fleet.makeTier())
        let machine = try fleet.makeMachine { $0.sharedTier = recorder }
        await #expect(throws: EideticError.self) { try await machine.image(for: ImageRequest(url)) }
        try await eventually("a lease is released") { !recorder.changes.isEmpty }
        #expect(recorder.changes == [.waived(.seconds(1))])
    }

    @Test("L09 a tier that reports a cancellation of its own fails no load")
    func cancellingTier() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let request = try fleet.serve("a.png")
        let machine = try fleet.makeMachine { $0.sharedTier = CancellingTier() }
        #expect(try await machine.response(for: request).source == .network)
    }
}

/// A tier whose operations are cancelled by itself.
private struct CancellingTier: SharedTier {
    let valueLimit = ByteCount.mebibytes(1), leaseDuration = Duration.seconds(1)

    func lookUp(_ key: String, leasing lease: SharedLease?) async throws(EideticError) -> SharedLookup {
        throw .cancelled
    }

    func insert(_ value: [UInt8], for key: String, timeToLive: Duration) async throws(EideticError) { throw .cancelled }
    func remove(_ key: String, ifEqualTo value: [UInt8]?) async throws(EideticError) { throw .cancelled }
    func update(_ lease: SharedLease, of key: String, to change: SharedLease.Change) async throws(EideticError) {
        throw .cancelled
    }
}
#endif
