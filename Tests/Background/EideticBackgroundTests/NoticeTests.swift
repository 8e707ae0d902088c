import EideticBackground
import Testing

@Suite("Notices during suspension")
struct NoticeTests {
    /// Returns the notices that an observer receives of 1,000 changes during suspension.
    private func receivedNotices(_ behavior: SuspensionBehavior) async -> [Notice] {
        let center = NoticeCenter()
        let stream = center.stream(for: "locale", behavior: behavior)
        center.suspend()
        for number in 1...1_000 {
            center.post(Notice("locale", object: number % 2 == 0 ? "even" : "odd", payload: ["value": "\(number)"]))
            center.post(Notice("other"))
        }
        center.resume()
        center.post(Notice("locale", payload: ["value": "end"]))
        var notices: [Notice] = []
        for await notice in stream {
            if notice.payload["value"] == "end" { break }
            notices.append(notice)
        }
        return notices
    }

    @Test("B08 coalesce: one notice per object, in the order of last change")
    func coalesce() async {
        let notices = await receivedNotices(.coalesce)
        #expect(notices.map(\.payload) == [["value": "999"], ["value": "1000"]])
        #expect(notices.map(\.coalescedCount) == [500, 500])
    }

    @Test("B08 hold: the newest 64 in order, and the first one indicates the loss of others")
    func hold() async {
        let notices = await receivedNotices(.hold)
        #expect(notices.map { $0.payload["value"] } == (937...1_000).map { "\($0)" })
        #expect(notices.map(\.isPrecededByLoss) == [true] + Array(repeating: false, count: 63))
    }

    @Test("B08 drop: no notice; deliverImmediately: every notice, at once")
    func dropAndImmediate() async {
        #expect(await receivedNotices(.drop).isEmpty)
        #expect(await receivedNotices(.deliverImmediately).count == 1_000)
    }

    @Test(
        "B08 a running application receives every notice at once, with each behaviour",
        arguments: SuspensionBehavior.allCases
    )
    func running(behavior: SuspensionBehavior) async {
        let application = Application()
        let stream = application.notices(named: "settings", suspensionBehavior: behavior)
        application.post(Notice("settings", payload: ["theme": "dark"]))
        var notices = stream.makeAsyncIterator()
        #expect(await notices.next() == Notice("settings", payload: ["theme": "dark"]))
    }
}
