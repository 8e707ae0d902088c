import EideticCore
import EideticTestSupport
import EideticTransfer
import Glibc
import Testing

/// Applications, transfer processes and supervisors that are killed at random events.
///
/// A kill follows a request at the server or a line of the application, one to four of them after the last one; which
/// instruction it hits is up to the system.
@Suite("Kills of applications, transfer processes and supervisors", .serialized, .timeLimit(.minutes(60)))
struct KillTests {
    /// The processes that a kill hits.
    private enum Victim: CaseIterable { case application, service, both }

    private struct Outcome {
        var killCount = 0
        var wrong: [String] = []
    }

    /// The number of files of a round, of which each third is uploaded.
    private static let fileCount = 12
    private static let fileSize = 240_000
    private static let uploads = Array(stride(from: 0, to: fileCount, by: 3))
    /// The most kills of a round, after which its application may end.
    private static let killsPerRound = Torture.repetitions(10, full: 30)

    @Test(
        "B14 kills at random: each file is whole, here or at the server, each event is delivered, and acknowledged once"
    )
    func kills() async throws {
        try await repeatRounds(name: "application and transfer process", runRound)
    }

    @Test("B14 kills at random of application, transfer process and supervisor: the same holds")
    func supervisedKills() async throws {
        try await repeatRounds(name: "with a supervisor", runSupervisedRound)
    }

    private func repeatRounds(name: String, _ round: (UInt64) async throws -> Outcome) async throws {
        var total = 0, number: UInt64 = 0
        let count = Torture.repetitions(10, full: Torture.environmentCount("EIDETIC_TRANSFER_KILLS") ?? 1_000)
        while total < count {
            number += 1
            let outcome = try await round(number)
            total += outcome.killCount
            #expect(outcome.wrong.isEmpty, "round \(number)")
        }
        let files = number * UInt64(Self.fileCount), uploads = number * UInt64(Self.uploads.count)
        print("transfers, \(name): \(total) kills in \(number) rounds, \(files) files, of them uploads: \(uploads)")
    }

    /// Waits for one to four further events, or for the end of the application that was started after `launch` lines.
    private func waitForMoment(
        _ events: EventLines,
        after launch: Int,
        _ generator: inout SplitMix,
        log: () -> String = { "" }
    ) async throws {
        let goal = events.lines.count + Int(generator.next() % 4) + 1
        try await wait(for: events, log: log) {
            $0.count >= goal || $0.contains("all handled") || $0[launch...].contains("exited")
        }
    }

    private func writeUploads(in place: ServicePlace) throws {
        for number in Self.uploads { try place.directory.write(Self.upload(number), to: "uploads/\(number)") }
    }

    private static func upload(_ number: Int) -> [UInt8] {
        NumberedServer.body(of: "upload \(number)", version: 0, size: fileSize)
    }

    private struct TimeHasPassed: Error {}

    /// Waits for lines; fails with the log if they do not come within half a minute.
    private func wait(
        for events: EventLines,
        log: () -> String,
        until condition: @escaping @Sendable ([String]) -> Bool
    ) async throws {
        if await events.wait(atMost: .seconds(30), until: condition) { return }
        Issue.record("nothing happens: \(events.lines)\n\(log())")
        throw TimeHasPassed()
    }

    // MARK: Without a supervisor

    /// Lets an application download files, kills processes until it is done, and compares the files.
    private func runRound(seed: UInt64) async throws -> Outcome {
        let place = try ServicePlace(), events = try EventLines(at: place.directory.path(of: "log"))
        let server = try NumberedServer(size: Self.fileSize, cutsOneIn: 10, seed: seed) { events.add("request") }
        var generator = SplitMix(state: seed &* 977), outcome = Outcome()
        try writeUploads(in: place)
        while true {
            let launch = events.lines.count
            let probe = try place.startProbe("kills", url: server.url, count: Self.fileCount)
            let exit = Task {
                let result = await probe.waitUntilExit()
                events.add("exited")
                return result
            }
            guard outcome.killCount < Self.killsPerRound else {
                let result = await exit.value
                #expect(result.status == .exited(0), "\(result.outputText) \(result.errorText)")
                break
            }
            try await waitForMoment(events, after: launch, &generator)
            if generator.next() % 3 == 0 { server.changeVersion() }
            let victim = Victim.allCases.randomElement(using: &generator) ?? .both
            if victim != .application, place.killService() { outcome.killCount += 1 }
            // The application is on its own for a while, and is killed then.
            if victim == .service { try await waitForMoment(events, after: launch, &generator) }
            probe.kill()
            if await exit.value.status == .exited(0) { break }
            outcome.killCount += 1
        }
        try await check(place, events: events, server: server, application: "probe", outcome: &outcome)
        return outcome
    }

    // MARK: With a supervisor

    private func runSupervisedRound(seed: UInt64) async throws -> Outcome {
        let supervised = try await SupervisedPlace(), place = supervised.place
        let events = try EventLines(at: place.directory.path(of: "log"))
        let server = try NumberedServer(size: Self.fileSize, cutsOneIn: 10, seed: seed) { events.add("request") }
        var generator = SplitMix(state: seed &* 983), outcome = Outcome()
        let log = { "\(supervised.log)\n\(supervised.output)\n\((try? supervised.status).debugDescription)" }
        try writeUploads(in: place)
        try supervised.install(session: "kills", url: server.url, count: Self.fileCount)
        // In every other round the application is suspended meanwhile, and woken.
        let inBackground = seed % 2 == 0
        try supervised.launch(inBackground: inBackground)
        while outcome.killCount < Self.killsPerRound, !events.lines.contains("all handled") {
            try await waitForMoment(events, after: 0, &generator, log: log)
            if generator.next() % 3 == 0 { server.changeVersion() }
            // Each of the three, with equal chances; none of them is a pause.
            let choice = generator.next() % 8
            if choice & 1 != 0 { outcome.killCount += try await supervised.killApplication() ? 1 : 0 }
            if choice & 2 != 0 { outcome.killCount += place.killService() ? 1 : 0 }
            if choice & 4 != 0 {
                await supervised.killSupervisor()
                outcome.killCount += 1
                try await supervised.startSupervisor()
            }
            try supervised.launch(inBackground: inBackground)
        }
        try await wait(for: events, log: log) { $0.contains("all handled") }
        await supervised.finish()
        let application = "eidetic-probe"
        try await check(place, events: events, server: server, application: application, outcome: &outcome)
        return outcome
    }

    // MARK: Results

    private func check(
        _ place: ServicePlace,
        events: EventLines,
        server: NumberedServer,
        application: String,
        outcome: inout Outcome
    ) async throws {
        for number in Self.uploads {
            // More than once where the answer was lost.
            let received = Set(server.receivedDigests(at: "/\(number)"))
            if received != [Digest(sha256: Self.upload(number)).hexadecimal] { outcome.wrong.append("\(number)") }
        }
        for number in 0..<Self.fileCount where !Self.uploads.contains(number) {
            let bytes = try FileSystem().contents(of: place.directory.path(of: "output/\(number)"))
            if !server.digests(of: "/\(number)").contains(Digest(sha256: bytes).hexadecimal) {
                outcome.wrong.append("\(number)")
            }
        }
        var moved: Set<String> = [], completions: [String: Set<String>] = [:], tasks: [String: Set<String>] = [:]
        for line in events.lines {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "moved": moved.insert(words[1])
            case "missing", "status", "invalid", "failed:": outcome.wrong.append(line)
            case "completed":
                if words.last != "ok" { outcome.wrong.append(line) }
                // A process is told once; the next one is told again of what was not acknowledged.
                if !completions[words[1], default: []].insert("\(words[2]) \(words[3])").inserted {
                    outcome.wrong.append("twice: \(line)")
                }
                if tasks[words[1], default: []].insert(words[2]).inserted, tasks[words[1]]?.count != 1 {
                    outcome.wrong.append("a second task: \(line)")
                }
            default: break
            }
        }
        #expect(completions.count == Self.fileCount, "\(completions.keys.sorted())")
        // A process that was killed between the move and its line has moved a file all the same.
        let unseen = Set((0..<Self.fileCount).map(String.init)).subtracting(moved)
        #expect(unseen.count <= outcome.killCount, "\(unseen)")
        // A further process is told nothing: all events are acknowledged, and no transfer is left.
        let delegate = RecordingDelegate()
        let configuration = place.configuration("kills", application: application)
        let session = try BackgroundURLSession(configuration: configuration, delegate: delegate)
        #expect(try await session.allTasks.isEmpty)
        await session.waitUntilAcknowledged()
        session.invalidateAndCancel()
        await delegate.wait { $0.calls.last == .invalid(nil) }
        #expect(await delegate.calls.allSatisfy { $0 == .invalid(nil) || $0 == .finishedEvents })
        place.killService()
    }
}
