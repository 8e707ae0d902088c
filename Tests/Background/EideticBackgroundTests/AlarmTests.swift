import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("The example Alarm", .timeLimit(.minutes(8)))
struct AlarmTests {
    static var program: String { ProbeProcess.path.replacingSuffix("eidetic-probe", with: "Alarm") }

    /// The length of an alarm's minute, in seconds: a real one in torture.
    static let minute = Torture.isFull ? 60.0 : 0.8

    private static let announcements = [
        "The alarm rings in 5.0 minutes.", "4.0 minutes left", "3.0 minutes left", "2.0 minutes left",
        "1.0 minutes left", "\u{7}Ring!",
    ]

    private func check(_ lines: [String]) {
        #expect(lines.contains("In the background; the alarm is still set."))
        let own = lines.filter { !$0.hasPrefix("In the") }
        #expect(own.count == Self.announcements.count, "\(lines)")
        for (line, announcement) in zip(own, Self.announcements) { #expect(line.hasPrefix(announcement), "\(lines)") }
    }

    @Test("B18 the alarm counts its five minutes and rings, after Ctrl-C, Ctrl-Z, a hangup and a request to stop")
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
        alarm.kill(signal)
        let end = await alarm.waitUntilExit()
        #expect(end.status == .exited(0))
        let lines = end.outputText.split(separator: "\n").map(String.init)
        check(lines)
        // The background time is that of the whole alarm and 10 s, from the signal on, and each minute since names it.
        let announced = lines.drop { !$0.hasPrefix("In the background") }.filter { $0.contains("minutes left") }
        let left = announced.flatMap { $0.split(separator: ", ") }.compactMap {
            String($0).number(after: "background time for ")
        }
        #expect(!left.isEmpty && left.count == announced.count && left == left.sorted(by: >), "\(lines)")
        #expect(left.allSatisfy { (1...Int(5 * Self.minute + 10)).contains($0) }, "\(lines)")
    }

    private func ringInTerminal(sendAway: (Terminal) -> Void) async throws {
        let terminal = try Terminal()
        terminal.type("\(Self.program) 5 \(Self.minute) >&3 2>&3\n")
        #expect(await terminal.shell.waitForOutput("rings in 5.0 minutes"))
        sendAway(terminal)
        #expect(await terminal.shell.waitForOutput("Ring!"))
        check(terminal.shell.outputSoFar.split(separator: "\n").map(String.init))
        terminal.type("kill -9 %1; exit\n")
    }
}

extension String {
    fileprivate func replacingSuffix(_ suffix: String, with other: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) + other : self
    }
}
