import EideticCore
import Testing

/// The levels belong to the whole process, so each test has a process of its own.
@Suite("Log", .timeLimit(.minutes(1)))
struct LogTests {
    @Test("L26 a line is written at the level of its category and below, not above")
    func levels() async {
        await #expect(processExitsWith: .success) {
            let lines = Guarded<[String]>([])
            let sink = Log.Sink.custom { level, category, text in
                lines.withLock { $0.append("\(category) \(level) \(text)") }
            }
            Log.configure([.fetch: .warning, .codecs: .debug], sink: sink)
            for level in [Log.Level.error, .warning, .info, .debug] {
                for category in [Log.Category.fetch, .store] { Log.write(level, category: category, message: "a") }
            }
            Log.write(.debug, category: .codecs, message: "b")
            #expect(lines.withLock { $0 } == ["fetch error a", "fetch warning a", "codecs debug b"])
        }
    }
}
