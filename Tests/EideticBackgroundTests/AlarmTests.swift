import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("The example Alarm", .timeLimit(.minutes(1)))
struct AlarmTests {
    private var program: String { ProbeProcess.path.replacingSuffix("EideticBackgroundProbe", with: "Alarm") }

    @Test("B18 the alarm rings in the background, and the process then exits with status 0")
    func rings() async throws {
        // Five minutes of 500 ms each.
        let alarm = try Subprocess(program, arguments: ["5", "0.5"])
        #expect(await alarm.waitForOutput("rings in 5.0 minutes"))
        alarm.kill(SIGTERM)
        let end = await alarm.waitUntilExit()
        #expect(end.status == .exited(0))
        let lines = end.outputText.split(separator: "\n").map(String.init)
        #expect(lines.suffix(2) == ["In the background; the alarm is still set.", "\u{7}Ring!"])
    }
}

extension String {
    fileprivate func replacingSuffix(_ suffix: String, with other: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) + other : self
    }
}
