import EideticCore
import EideticTestSupport
import EideticTransfer
import Glibc
import Testing

/// Applications and transfer processes that are killed at random times.
@Suite("Kills of applications and transfer processes", .serialized, .timeLimit(.minutes(60)))
struct KillTests {
    /// The processes that a kill hits.
    private enum Victim: CaseIterable { case application, service, both }

    private struct Outcome {
        var killCount = 0
        var moved: [String: Int] = [:]
        var wrong: [String] = []
    }

    /// The number of files of a round.
    private static let fileCount = 12

    @Test(
        "B14 kills at random: each file is one version of the server's, each event is delivered, and acknowledged once"
    )
    func kills() async throws {
        var total = 0, round: UInt64 = 0
        let count = Torture.repetitions(10, full: Torture.environmentCount("EIDETIC_TRANSFER_KILLS") ?? 1_000)
        while total < count {
            round += 1
            let outcome = try await runRound(seed: round)
            total += outcome.killCount
            #expect(outcome.wrong.isEmpty, "round \(round)")
            #expect(outcome.moved.count == Self.fileCount, "round \(round)")
        }
        print("transfers: \(total) kills in \(round) rounds, \(round * UInt64(Self.fileCount)) files")
    }

    /// Lets an application download files, kills processes until it is done, and compares the files.
    private func runRound(seed: UInt64) async throws -> Outcome {
        let place = try ServicePlace(), server = try NumberedServer(size: 240_000, cutsOneIn: 10, seed: seed)
        var generator = SplitMix(seed: seed &* 977), outcome = Outcome()
        while true {
            let probe = try place.startProbe("kills", url: server.url, count: Self.fileCount)
            let exit = Task { await probe.waitUntilExit() }
            guard outcome.killCount < Torture.repetitions(10, full: 30) else {
                let result = await exit.value
                #expect(result.status == .exited(0), "\(result.outputText) \(result.errorText)")
                break
            }
            // Kills belong to no event: any instruction may be the last.
            try await Task.sleep(for: .microseconds(.random(in: 1_000..<90_000, using: &generator)))
            if generator.next() % 3 == 0 { server.changeVersion() }
            let victim = Victim.allCases.randomElement(using: &generator) ?? .both
            if victim != .application, place.killService() { outcome.killCount += 1 }
            guard victim != .service else {
                // The application is on its own for a while, and is killed then.
                try await Task.sleep(for: .microseconds(.random(in: 1_000..<60_000, using: &generator)))
                probe.kill()
                if await exit.value.status == .exited(0) { break }
                outcome.killCount += 1
                continue
            }
            probe.kill()
            if await exit.value.status == .exited(0) { break }
            outcome.killCount += 1
        }
        try await check(place, server: server, outcome: &outcome)
        return outcome
    }

    private func check(_ place: ServicePlace, server: NumberedServer, outcome: inout Outcome) async throws {
        for number in 0..<Self.fileCount {
            let bytes = try FileSystem().contents(of: place.directory.path(of: "output/\(number)"))
            if !server.digests(of: "/\(number)").contains(Digest(sha256: bytes).hexadecimal) {
                outcome.wrong.append("\(number)")
            }
        }
        for line in place.log {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "moved": outcome.moved[words[1], default: 0] += 1
            case "missing", "status", "invalid": outcome.wrong.append(line)
            case "completed" where words.last != "ok": outcome.wrong.append(line)
            default: break
            }
        }
        // A further process is told nothing: all events are acknowledged, and no transfer is left.
        let delegate = RecordingDelegate()
        let configuration = place.configuration("kills", application: "probe")
        let session = try BackgroundURLSession(configuration: configuration, delegate: delegate)
        #expect(try await session.allTasks.isEmpty)
        await session.waitUntilAcknowledged()
        session.invalidateAndCancel()
        await delegate.wait { $0.calls.last == .invalid(nil) }
        #expect(await delegate.calls.allSatisfy { $0 == .invalid(nil) || $0 == .finishedEvents })
        place.killService()
    }
}
