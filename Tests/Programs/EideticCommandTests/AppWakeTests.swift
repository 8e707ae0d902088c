import EideticTestSupport
import Testing

/// A line of `eidetic app why --json`, `log --json` or `push --json`.
private struct TextLine: Decodable {
    let line: String
}

/// A line of `eidetic app list --json`.
private struct StatusLine: Decodable {
    let identifier: String
    let state: String
    let process: Int?
    let wasForceQuit: Bool
}

@Suite("Wakes and URLs by `eidetic app`", .serialized, .timeLimit(.minutes(2)))
struct AppWakeTests {
    @Test("B13 `push` delivers a message, tells when a later one is delivered, and why one is refused")
    func push() async throws {
        let supervisor = try await CommandSupervisor()
        try await supervisor.launch("one")
        #expect(try await supervisor.output("push", "one", #"{"content-available":1,"n":7}"#).isEmpty)
        await supervisor.wait(for: #"one message in active {"content-available":1,"n":7}"#)
        try await supervisor.output("background", "one")
        try await supervisor.waitForState("suspended")
        // Without a message, the shortest one.
        #expect(try await supervisor.output("push", "one").isEmpty)
        await supervisor.wait(for: #"one message in background {"aps":{"content-available":1}}"#)
        try await supervisor.output("push", "one")
        #expect(try await supervisor.output("push", "one").hasPrefix("throttled: the newest message is delivered in "))
        let lines: [TextLine] = try await supervisor.run("push", "one", "--json").lines()
        #expect(lines.count == 1 && lines[0].line.hasPrefix("throttled: "))
        for (message, reason) in [("{}", "no \"content-available\": 1"), ("x", "unexpected byte at 0")] {
            let result = try await supervisor.run("push", "one", message)
            #expect(result.status == .exited(1) && result.errorText.contains(reason), "\(result.errorText)")
        }
        let large = "{\"content-available\":1,\"text\":\"\(String(repeating: "x", count: 4_096))\"}"
        #expect(try await supervisor.run("push", "one", large).errorText.contains("more than 4,096 bytes"))
        #expect(try await supervisor.run("push", "two").errorText.contains("no application has the identifier two"))
        try await supervisor.finish("one")
    }

    @Test("B12 B10 B07 `simulate` lets each event happen at once, and says why it cannot")
    func simulate() async throws {
        let supervisor = try await CommandSupervisor()
        try await supervisor.launch("one")
        try await supervisor.output("simulate", "one", "fetch")
        await supervisor.wait(for: "one fetch in active\n")
        let place = ["52.5", "13.4", "10"]
        let unasked = try await supervisor.run("simulate", "one", "location", place[0], place[1], place[2])
        #expect(unasked.status == .exited(1) && unasked.errorText.contains("has not asked for updates"))
        try await supervisor.send("location", to: "one")
        // The application's wish is on its way when it says that it has expressed it.
        try await eventually("the supervisor knows that places are wanted") {
            try await supervisor.run("simulate", "one", "location", place[0], place[1], place[2]).status == .exited(0)
        }
        await supervisor.wait(for: "one location 52.5 13.4 10.0 in active\n")
        #expect(try await supervisor.run("simulate", "one", "task", "x").errorText.contains("no request with the"))
        try await supervisor.send("processing processing", to: "one")
        // It names no conditions, so that it may have run before.
        _ = try await supervisor.run("simulate", "one", "task", "processing")
        await supervisor.wait(for: "one runs processing\n")
        try await supervisor.output("simulate", "one", "memory", "2")
        await supervisor.wait(for: "one memory pressure ")
        #expect(try await supervisor.run("simulate", "one", "expire").errorText.contains("not in the background"))
        try await supervisor.send("task", to: "one")
        try await supervisor.output("background", "one")
        try await supervisor.waitForState("background")
        try await supervisor.output("simulate", "one", "expire")
        let lines = try await supervisor.output("why", "one").split(separator: "\n")
        let time = lines.filter { $0.contains("its background time ") }
        #expect(time.count == 1 && time.first?.contains("its background time is over; killed in ") == true, "\(time)")
        try await supervisor.finish("one")
    }

    @Test(
        "`simulate` refuses an invalid event as an invalid command line, also without a supervisor",
        arguments: [["nap"], ["fetch", "now"], ["memory", "4"], ["location", "north", "1"], ["task"]]
    )
    func invalidEvents(words: [String]) async throws {
        let arguments = ["app", "simulate", "--runtime-dir", "/nowhere", "one"] + words
        let result = try await Subprocess.run(EideticProgram.path, arguments: arguments)
        #expect(result.status == .exited(2) && result.errorText.contains(words[0]), "\(result.errorText)")
    }

    @Test("B10 B12 B22 `why` explains each wake that does not come yet, with its next chance, also as JSON")
    func why() async throws {
        let supervisor = try await CommandSupervisor(["one": "X-Eidetic-BackgroundModes=fetch;processing;"])
        try await supervisor.launch("one")
        let before = try await supervisor.output("why", "one")
        #expect(before.contains("not suspended: it is in the foreground"))
        #expect(before.contains("background fetch: never, as the application has set no interval"))
        #expect(before.contains(": fetch, processing\n"), "\(before)")
        try await supervisor.send("fetch-interval minimum", to: "one")
        try await eventually("the supervisor knows the interval") {
            try await supervisor.output("why", "one").contains("background fetch: next chance ")
        }
        #expect(try await supervisor.run("push", "one").errorText.contains("does not name remote-notification"))
        let text = try await supervisor.output("why", "one").split(separator: "\n").map(String.init)
        #expect(text.contains { $0.hasPrefix("last refusal: ") && $0.contains("remote-notification") }, "\(text)")
        let log: [TextLine] = try await supervisor.run("log", "--json", "one").lines()
        #expect(log.contains { $0.line.contains("refused: ") && $0.line.contains("remote-notification") })
        let lines: [TextLine] = try await supervisor.run("why", "one", "--json").lines()
        #expect(lines.count == text.count && lines.first?.line == text.first)
        try await supervisor.output("background", "one")
        try await supervisor.waitForState("suspended")
        #expect(try await supervisor.output("why", "one").contains("suspended: continued by `eidetic app foreground`"))
        try await supervisor.output("quit", "--force", "one")
        try await supervisor.waitForState("notRunning")
        #expect(try await supervisor.output("why", "one").contains("one is notRunning"))
        let refused = try await supervisor.run("simulate", "one", "fetch")
        #expect(refused.status == .exited(1) && refused.errorText.contains("only the user starts it again"))
        #expect(try await supervisor.run("why", "two").status == .exited(1))
        try await supervisor.finish()
    }

    @Test("B09 `open` launches the application of the scheme or the named one, and returns with its answer")
    func open() async throws {
        let lines = "X-Eidetic-BackgroundModes=\nMimeType=x-scheme-handler/sample;"
        let supervisor = try await CommandSupervisor(["org.example.one": lines])
        #expect(try await supervisor.output("open", "sample:1").isEmpty)
        await supervisor.wait(for: "org.example.one opens sample:1\n")
        try await supervisor.output("background", "org.example.one")
        try await supervisor.waitForState("suspended")
        try await supervisor.output("open", "org.example.one", "sample:2")
        await supervisor.wait(for: "org.example.one opens sample:2\n")
        let statuses: [StatusLine] = try await supervisor.run("list", "--json").lines()
        #expect(statuses.map(\.identifier) == ["org.example.one"] && statuses[0].state == "active")
        #expect(statuses[0].process != nil && !statuses[0].wasForceQuit)
        let log: [TextLine] = try await supervisor.run("log", "--json", "org.example.one").lines()
        #expect(log.contains { $0.line.contains("sample:2") && $0.line.hasSuffix("handled") }, "\(log.map(\.line))")
        for (words, reason) in [
            (["other:1"], "no application opens other: URLs"), (["nothing"], "does not begin with a scheme"),
            (["org.example.two", "sample:1"], "no application has the identifier org.example.two"),
            (["org.example.one", "refused:1"], "the application does not open this URL"),
        ] {
            let result = try await supervisor.run(["open"] + words)
            #expect(result.status == .exited(1) && result.errorText.contains(reason), "\(words): \(result.errorText)")
        }
        try await supervisor.finish("org.example.one")
    }
}
