import EideticLifecycle
import EideticSupervision
import EideticSupervisor
import Testing

@Suite("Requests that wait for an answer, without a process")
struct RequestComponentTests {
    private let view = ApplicationView.running(.active)
    private let url = IncomingURL("a:b", id: 7, source: nil)

    /// The answers that were given, in words.
    private final class Answers {
        var texts: [String] = []

        func add(_ failure: String?) { texts.append(failure ?? "done") }
    }

    @Test("B09 the sender of a URL is answered once: by the application, or after 8 s that there is no answer yet")
    func urls() {
        let (answers, start) = (Answers(), ApplicationView.start)
        var urls = URLRequests(after: 6)
        #expect(urls.deadline == nil)
        let first = urls.open("a:b", from: nil, at: start, answer: answers.add)
        #expect(first.requests == [.openURL(url)])
        _ = urls.open("a:b", from: nil, at: start + .seconds(1), answer: answers.add)
        #expect(urls.deadline == start + .seconds(8))
        urls.complete(url, outcome: .handled, startObstacle: nil).answer()
        #expect(answers.texts == ["done"] && urls.deadline == start + .seconds(9))
        urls.complete(url, outcome: .notHandled, startObstacle: nil).answer()
        urls.handle(.deadline, in: view.at(start + .seconds(9))).answer()
        #expect(answers.texts == ["done", "the application has not answered yet; the URL waits for it"])
        #expect(urls.deadline == nil)
    }

    @Test("B09 a URL that was refused is answered with what kept the program from starting")
    func refusedURL() {
        let answers = Answers()
        for obstacle in ["it cannot be started: no such file", nil] {
            var urls = URLRequests(after: 6)
            _ = urls.open("a:b", from: nil, at: .zero, answer: answers.add)
            urls.complete(url, outcome: .refused(.forceQuit), startObstacle: obstacle).answer()
        }
        #expect(
            answers.texts == ["it cannot be started: no such file", LifecycleEffect.Refusal.forceQuit.explanation]
        )
    }

    @Test("B09 a sender who has lost the earlier supervisor is answered by its token, before or after the outcome")
    func tokens() throws {
        let answers = Answers()
        var urls = URLRequests(after: 11)
        let record = ApplicationRecord.URLRecord(IncomingURL("a:b", id: 1, source: "b"), token: 99)
        let url = urls.renumber(record)
        #expect(url == IncomingURL("a:b", id: 12, source: "b") && urls.record(of: url) == record)
        let unknown = urls.follow(98, at: .zero, answer: answers.add)
        #expect(unknown.map(\.count) == nil)
        var known = urls.follow(99, at: .zero, answer: answers.add)
        try #require(known).answer()
        #expect(answers.texts.isEmpty)
        urls.complete(url, outcome: .notHandled, startObstacle: nil).answer()
        #expect(answers.texts == ["the application does not open this URL"])
        known = urls.follow(99, at: .zero, answer: answers.add)
        try #require(known).answer()
        #expect(answers.texts.count == 2)
    }

    @Test("B09 a sender who asks before the process of the earlier supervisor has connected is answered afterwards")
    func earlySender() throws {
        let (answers, start) = (Answers(), ApplicationView.start)
        var urls = URLRequests(after: 11)
        let records = [99, 97].map {
            ApplicationRecord.URLRecord(IncomingURL("a:b", id: 1, source: "b"), token: $0)
        }
        urls.announce(records)
        for token in [99, 97] as [UInt64] {
            let early = urls.follow(token, at: start, answer: answers.add)
            try #require(early).answer()
        }
        #expect(answers.texts.isEmpty && urls.deadline == start + .seconds(8))
        let url = urls.renumber(records[0])
        urls.complete(url, outcome: .notHandled, startObstacle: nil).answer()
        #expect(answers.texts == ["the application does not open this URL"])
        // The process of the other one has not connected in time.
        urls.handle(.deadline, in: view.at(start + .seconds(8))).answer()
        #expect(answers.texts.last == "the application has not answered yet; the URL waits for it")
        #expect(answers.texts.count == 2 && urls.deadline == nil)
        let unknown = urls.follow(98, at: start, answer: answers.add)
        #expect(unknown.map(\.count) == nil)
        // The user ends the application.
        urls.announce(records)
        let waiting = urls.follow(97, at: start, answer: answers.add)
        try #require(waiting).answer()
        urls.dropAnnounced().answer()
        #expect(answers.texts.last == LifecycleEffect.Refusal.forceQuit.explanation)
        let dropped = urls.follow(97, at: start, answer: answers.add)
        #expect(dropped.map(\.count) == nil)
    }

    @Test("B01 a launch is answered when the program has connected, or after a limit that it has not")
    func launches() {
        var answers: [LaunchRequests.Answer] = []
        var (launches, starting) = (LaunchRequests(limit: .seconds(5)), view)
        let isRefused = !launches.expect(in: view.at(.zero)) { answers.append($0) }
        starting.process?.slowStart = "process 7 has not started its program yet"
        starting.process?.isWelcomed = false
        let isKept = [1, 2].map { time in launches.expect(in: starting.at(.seconds(time))) { answers.append($0) } }
        #expect(isRefused && isKept == [true, true] && launches.deadline == .seconds(6))
        launches.handle(.deadline, in: starting.at(.seconds(6))).answer()
        #expect(answers == Array(repeating: .failed("process 7 has not started its program yet"), count: 2))
        for isPlain in [false, true] {
            starting.process?.slowStart = nil
            starting.isPlain = false
            _ = launches.expect(in: starting.at(.seconds(7))) { answers.append($0) }
            #expect(launches.handle(.settled, in: starting.at(.seconds(8))).isEmpty)
            starting.isPlain = isPlain
            starting.process?.isWelcomed = !isPlain
            launches.handle(.settled, in: starting.at(.seconds(9))).answer()
            #expect(answers.count == (isPlain ? 4 : 3) && launches.deadline == nil)
            starting.process?.isWelcomed = false
        }
        #expect(answers[2] == .started)
        guard case .note(let note) = answers[3] else {
            Issue.record("\(answers)")
            return
        }
        #expect(note.contains("does not connect"))
    }
}
