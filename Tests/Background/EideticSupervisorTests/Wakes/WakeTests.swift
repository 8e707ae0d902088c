import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Wakes", .serialized, .timeLimit(.minutes(3)))
struct WakeTests {
    private static let matrix = ControlGroups.kinds.flatMap { kind in WakeHarness.State.allCases.map { (kind, $0) } }

    /// The requests that lead to wakes, and the beginning of what the application prints.
    private static let wakes: [(ControlRequest, String)] = [
        (.simulate(identifier: "one", .fetch), "one fetch in "),
        (.push(identifier: "one", payload: Array(#"{"aps":{"content-available":1},"n":7}"#.utf8)), "one message in "),
        (.simulate(identifier: "one", .location(latitude: 52.5, longitude: 13.4, accuracy: 10)), "one location "),
    ]

    @Test("B10 B12 B13 each wake reaches the application in each state, but none after a force quit", arguments: matrix)
    func everyState(kind: FreezerKind, state: WakeHarness.State) async throws {
        let harness = try await WakeHarness(kind)
        let daemon = harness.daemon
        try await harness.launch("one")
        try await harness.send("location", to: "one")
        // The application is killed before its message arrives otherwise.
        let isWanted = await daemon.waitForStatuses { _ in
            (try? harness.why("one"))?.contains { $0.hasSuffix(" when the location changes") } ?? false
        }
        #expect(isWanted)
        for (request, line) in Self.wakes {
            if state == .dead || state == .forceQuit {
                try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
            }
            try await daemon.resume("one")
            try await harness.bring("one", to: state)
            guard state != .forceQuit else {
                guard case .refused(_, let message)? = try daemon.request(request).first else {
                    Issue.record("\(request) is not refused")
                    continue
                }
                #expect(message.contains("only the user starts it again"))
                #expect(!daemon.output.contains(line))
                continue
            }
            try daemon.perform(request)
            await daemon.expectOutput(line)
            if state == .dead { await daemon.expectOutput("one launched in background for wake(") }
            let isRunning = state == .active ? "active" : "background"
            #expect(daemon.output.contains("\(line.dropLast())") && daemon.output.contains("in \(isRunning)"))
            // A suspended or launched one is suspended again.
            if state == .suspended || state == .dead { await daemon.expectState(.suspended, of: "one") }
        }
        await harness.finish()
    }

    @Test("B12 the result of a fetch reaches the rules and the timing", arguments: ControlGroups.kinds)
    func result(kind: FreezerKind) async throws {
        let harness = try await WakeHarness(kind)
        try await harness.launch("one", ["--result", "noData"])
        #expect(try harness.why("one").contains("background fetch: never, as the application has set no interval"))
        try await harness.send("fetch-interval minimum", to: "one")
        let isPlanned = await harness.daemon.waitForStatuses { _ in
            (try? harness.why("one"))?.contains { $0.hasPrefix("background fetch: next chance ") } ?? false
        }
        #expect(isPlanned)
        try harness.daemon.perform(.simulate(identifier: "one", .fetch))
        await harness.daemon.expectOutput("one fetch in active\n")
        let isScored = await harness.daemon.waitForStatuses { _ in
            (try? harness.why("one"))?.contains { $0.hasSuffix("score 80 of 100") } ?? false
        }
        #expect(isScored)
        // The schedule outlives the supervisor.
        try await harness.daemon.replace()
        #expect(try harness.why("one").contains { $0.hasSuffix("score 80 of 100") })
        await harness.finish()
    }

    @Test("B12 a fetch that is not completed is ended at its limit, and counts as failed")
    func incomplete() async throws {
        let kind = ControlGroups.kinds[0]
        let harness = try await WakeHarness(
            kind,
            WakeHarness.fast + ["--limit", "wake=300", "--limit", "expiration=1500"]
        )
        try await harness.launch("one", ["--result", "none"])
        try await harness.send("fetch-interval minimum", to: "one")
        try await harness.bring("one", to: .suspended)
        try harness.daemon.perform(.simulate(identifier: "one", .fetch))
        await harness.daemon.expectOutput("one fetch in background\n")
        await harness.daemon.expectState(.notRunning, of: "one")
        let log = try harness.log("one")
        #expect(log.contains { $0.contains("code 0x2182bad4") }, "\(log)")
        #expect(try harness.why("one").contains { $0.hasSuffix("score 50 of 100") })
        await harness.finish()
    }

    @Test("B14 an application that ends in five fetches is given up for them, and told so, until the user has used it")
    func givenUp() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0]), daemon = harness.daemon
        try await harness.launch("one", ["--ends-in-wakes"])
        try await harness.bring("one", to: .dead)
        for count in 1...5 {
            try daemon.perform(.simulate(identifier: "one", .fetch))
            await daemon.expectOutput("one fetch in background\n", times: count)
            await daemon.expectState(.notRunning, of: "one")
            #expect(try harness.why("one").contains { $0.contains("ended during \(count) fetch wakes") })
        }
        #expect(try harness.why("one").contains { $0.hasPrefix("no chance of wakes for fetch: ") })
        // Its successor knows it, too.
        try await daemon.replace()
        guard case .refused(_, let message)? = try daemon.request(.simulate(identifier: "one", .fetch)).first else {
            throw CancellationError()
        }
        #expect(message.contains("ended in the middle of its last wakes"), "\(message)")
        let payload = Array(#"{"content-available":1}"#.utf8)
        try daemon.perform(.push(identifier: "one", payload: payload))
        await daemon.expectOutput("one message in background")
        try await daemon.resume("one")
        // At the acknowledgement of the callback.
        await daemon.waitForStatuses { _ in (try? harness.why("one"))?.contains { $0.contains("fetch wakes") } == false
        }
        #expect(try !harness.why("one").contains { $0.contains("fetch wakes") })
        await harness.finish()
    }

    @Test("B12 a fetch that is under way when the supervisor is replaced is not begun again, and its result counts")
    func replacedDuringFetch() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0]), daemon = harness.daemon
        try await harness.launch("one", ["--result", "none"])
        try await harness.send("fetch-interval minimum", to: "one")
        try await harness.bring("one", to: .suspended)
        try daemon.perform(.simulate(identifier: "one", .fetch))
        await daemon.expectOutput("one fetch in background\n")
        try await daemon.replace()
        // It has connected, and named its wake.
        await daemon.waitForStatuses { _ in
            (try? harness.log("one"))?.contains { $0.contains("adopted: background") } ?? false
        }
        let why = try harness.why("one")
        #expect(why.contains { $0.hasPrefix("background fetch: under way") }, "\(why)")
        // Its process ends before it is completed.
        let process = try #require(try daemon.status(of: "one")?.process)
        #expect(kill(process, SIGKILL) == 0)
        await daemon.expectState(.notRunning, of: "one")
        #expect(try harness.why("one").contains { $0.hasSuffix("score 50 of 100") })
        await harness.finish()
    }

    @Test("B12 requests run their handlers, also in a process that is launched for them", arguments: kinds)
    func requests(kind: FreezerKind) async throws {
        let harness = try await WakeHarness(kind)
        let daemon = harness.daemon
        try await harness.launch("one")
        for identifier in ["refresh", "processing"] {
            try await harness.send("\(identifier) \(identifier)", to: "one")
            try await harness.bring("one", to: identifier == "refresh" ? .suspended : .dead)
            // Due at the next whole minute, as it names no time; it may have come.
            _ = try daemon.request(.simulate(identifier: "one", .task(identifier)))
            await daemon.expectOutput("one runs \(identifier)\n")
            try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
            await daemon.expectState(.active, of: "one")
        }
        #expect(daemon.output.ranges(of: "one runs").count == 2)
        await harness.finish()
    }

    @Test("B13 messages are throttled: after three at once the newest one waits, and why tells for how long")
    func throttled() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0])
        try await harness.launch("one")
        for number in 1...5 {
            let payload = Array(#"{"content-available":1,"n":\#(number)}"#.utf8)
            let answer = try harness.daemon.request(.push(identifier: "one", payload: payload))
            if number <= 3 {
                #expect(answer == [.done])
            } else {
                guard case .lines(let lines)? = answer.first else { throw CancellationError() }
                // 20 min, less the time since the third one.
                let words = lines.joined().split(separator: " ")
                #expect(words.prefix(7).joined(separator: " ") == "throttled: the newest message is delivered in")
                #expect(words.count > 8 && words[8] == "min" && (10...20).contains(Int(words[7]) ?? 0), "\(lines)")
            }
        }
        await harness.daemon.expectOutput(#""n":3"#)
        #expect(try harness.why("one").contains { $0.hasPrefix("a message of a server waits for ") })
        await harness.finish()
    }

    @Test(
        "B13 a message that is not silent, or no JSON, is refused with the reason",
        arguments: [
            (#"{"aps":{"alert":"x"}}"#, "no \"content-available\": 1"), ("[1]", "unexpected byte at 0"),
            (#"{"content-available":1"#, "unexpected byte at 22"), (#"{"content-available":11}"#, "no \"content"),
        ]
    )
    func invalidMessages(text: String, reason: String) async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0])
        try await harness.launch("one")
        let answer = try harness.daemon.request(.push(identifier: "one", payload: Array(text.utf8)))
        guard case .refused(_, let message)? = answer.first else { throw CancellationError() }
        #expect(message.contains(reason), "\(message)")
        await harness.finish()
    }

    @Test("B10 an undeclared mode is refused with the reason: fetch, message and location")
    func undeclared() async throws {
        let directory = try DesktopEntries(["one": "X-Eidetic-BackgroundModes=voip;"])
        let harness = try await WakeHarness(
            ControlGroups.kinds[0],
            WakeHarness.fast + ["--applications", directory.path]
        )
        try await harness.launch("one")
        for (request, mode) in zip(Self.wakes.map(\.0), ["fetch", "remote-notification", "location"]) {
            if mode == "location" { try await harness.send("location", to: "one") }
            guard case .refused(_, let message)? = try harness.daemon.request(request).first else {
                Issue.record("\(mode) is not refused")
                continue
            }
            let isNamed = message.contains("does not name \(mode)") || mode == "location"
            #expect(isNamed, "\(message)")
        }
        try await harness.send("processing index", to: "one", isAnswered: false)
        await harness.daemon.expectOutput("one refused processing index")
        // The answer to the request came after the supervisor had read the message about the location.
        let log = try harness.log("one")
        #expect(log.contains { $0.contains("does not name location") }, "\(log)")
        await harness.finish()
    }
}
