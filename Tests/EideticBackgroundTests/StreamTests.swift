import EideticBackground
import EideticCore
import Testing

@Suite("Streams of states")
struct StreamTests {
    @Test("B02 a stream that is opened while states change misses none")
    func nothingIsMissed() async {
        let last = 20_000
        let broadcast = Broadcast<Int>("test", first: 0)
        Thread.start(name: "changes") { for number in 1...last { broadcast.post(number) } }
        // Each stream begins with what was the latest, and has every value from there to the end.
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    var expected: Int?
                    for await number in broadcast.stream(startingWithLatest: true) {
                        if let expected, number != expected { return false }
                        if number == last { return true }
                        expected = number + 1
                    }
                    return false
                }
            }
            for await isWhole in group { #expect(isWhole) }
        }
    }

    @Test("B03 a consumer that was told of a change holds the process until it asks again")
    func holds() async {
        let table = BackgroundTaskTable {}
        let broadcast = Broadcast<Int>("observer", first: 0, holdingIn: table)
        var iterator = broadcast.stream(startingWithLatest: true).makeAsyncIterator()
        #expect(await iterator.next() == 0)
        broadcast.post(1)
        #expect(table.names == ["observer"])
        #expect(await iterator.next() == 1)
        #expect(table.names == ["observer"])
        broadcast.post(2)
        #expect(await iterator.next() == 2)
        // Time is up: it is let go, and holds again once it asks again.
        for case (_, .anyThread(let handler)) in table.removeHandlers() { handler() }
        #expect(table.count == 0)
        broadcast.post(3)
        #expect(table.count == 0)
        #expect(await iterator.next() == 3)
        broadcast.post(4)
        #expect(table.names == ["observer"])
    }

    @Test("B03 a stream that is given up holds nothing")
    func givenUp() async {
        let table = BackgroundTaskTable {}
        let broadcast = Broadcast<Int>("observer", first: 0, holdingIn: table)
        for await number in broadcast.stream(startingWithLatest: true) where number == 0 { break }
        broadcast.post(1)
        #expect(table.count == 0)
    }
}
