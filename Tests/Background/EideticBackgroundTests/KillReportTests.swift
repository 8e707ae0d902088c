import EideticBackground
import EideticLifecycle
import Testing

@Suite("Kill report")
struct KillReportTests {
    @Test("B04 the report has the code, the reason and the open tasks")
    func text() {
        #expect(
            KillReport(reason: .backgroundTask, openTasks: ["flush", "upload"]).text
                == "killed, code 0x2182bad2: background tasks were open after their expiry; open tasks: flush, upload"
        )
        #expect(KillReport(reason: .memory, openTasks: []).text == "killed, code 0x00000000: memory was exhausted")
    }

    @Test("B04 the report is one line of less than a page, with any task names")
    func hostileNames() {
        let text = KillReport(reason: .backgroundTask, openTasks: ["a\nREADY=1", "b\u{0}c\u{1b}[2J"]).text
        #expect(text.hasSuffix("open tasks: a?READY=1, b?c?[2J"))
        let many = KillReport(reason: .backgroundTask, openTasks: (0..<10_000).map { "task number \($0)" }).text
        #expect(many.utf8.count < 4_096 && many.hasSuffix("more"))
        let long = String(repeating: "x", count: 100_000)
        #expect(KillReport(reason: .backgroundTask, openTasks: [long]).text.utf8.count < 4_096)
    }
}
