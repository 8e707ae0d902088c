import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("The example Alarm", .timeLimit(.minutes(8)))
struct AlarmTests {
    static var program: String { ProbeProcess.path.replacingSuffix("eidetic-probe", with: "Alarm") }

    /// The length of an alarm's minute, in seconds: a real one in torture.
    static let minute = Torture.isFull ? 60.0 : 0.5

    private static let announcements = [
        "The alarm rings in 5.0 minutes.", "4.0 minutes left", "3.0 minutes left", "2.0 minutes left",
        "1.0 minutes left", "\u{7}Ring!",
    ]

    private func check(_ lines: [String], took: Duration) {
        #expect(lines.contains("In the background; the alarm is still set."))
        let own = lines.filter { !$0.hasPrefix("In the") }
        #expect(own.count == Self.announcements.count, "\(lines)")
        for (line, announcement) in zip(own, Self.announcements) { #expect(line.hasPrefix(announcement), "\(lines)") }
        // From the first line on, less the time in which this process noticed it.
        #expect(took > .seconds(5 * Self.minute - 1) && took < .seconds(5 * Self.minute + 20), "\(took)")
    }

    @Test("B18 the alarm rings after its five minutes, however it was sent away, and says each minute what is left")
    func rings() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for signal in [SIGTERM, SIGINT, SIGHUP] { group.addTask { try await self.ring(after: signal) } }
            // Ctrl-Z: it rings before the job stops.
            group.addTask { try await self.ringInTerminal { $0.type("\u{1a}") } }
            group.addTask { try await self.ringInTerminal { $0.close() } }
            try await group.waitForAll()
        }
    }

    private func ring(after signal: Int32) async throws {
        let alarm = try Subprocess(Self.program, arguments: ["5", "\(Self.minute)"])
        #expect(await alarm.waitForOutput("rings in 5.0 minutes"))
        let clock = ContinuousClock()
        let began = clock.now
        alarm.kill(signal)
        let end = await alarm.waitUntilExit()
        #expect(end.status == .exited(0))
        let lines = end.outputText.split(separator: "\n").map(String.init)
        check(lines, took: clock.now - began)
        // The background time that is left is that of the alarm and 10 s, from the signal on.
        let left = Int(4 * Self.minute + 10)
        #expect(
            (left - 1...left + 1).contains { lines.contains("4.0 minutes left, background time for \($0) s.") },
            "\(lines)"
        )
    }

    private func ringInTerminal(sendAway: (Terminal) -> Void) async throws {
        let terminal = try Terminal()
        terminal.type("\(Self.program) 5 \(Self.minute) >&3 2>&3\n")
        #expect(await terminal.shell.waitForOutput("rings in 5.0 minutes"))
        let clock = ContinuousClock()
        let began = clock.now
        sendAway(terminal)
        #expect(await terminal.shell.waitForOutput("Ring!"))
        let lines = terminal.shell.outputSoFar.split(separator: "\n").map(String.init)
        check(lines, took: clock.now - began)
        terminal.type("kill -9 %1; exit\n")
    }
}

extension String {
    fileprivate func replacingSuffix(_ suffix: String, with other: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) + other : self
    }
}
