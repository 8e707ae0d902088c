import EideticBackground
import EideticCore
import EideticTestSupport
import Testing

@Suite("State streams")
struct StreamTests {
    @Test("B02 a stream that starts during changes misses none")
    func nothingIsMissed() async {
        let count = Torture.repetitions(20, full: 200), end = -1
        let broadcast = Broadcast<Int>(name: "test", initialValue: 0), startedCount = Monitor(0)
        Thread.start(name: "changes") {
            var number = 0
            // Until each stream has started.
            while startedCount.withLock({ $0 }) < count, number < 20_000 {
                number += 1
                broadcast.post(number)
            }
            broadcast.post(end)
        }
        // Each stream starts with the latest value, and has every value from there to the end.
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let stream = broadcast.stream(startingWithLatest: true)
                    startedCount.withLock { $0 += 1 }
                    var last: Int?
                    for await number in stream {
                        if number == end { return true }
                        if let last, number != last + 1 { return false }
                        last = number
                    }
                    return false
                }
            }
            for await isComplete in group { #expect(isComplete) }
        }
    }

    @Test("B03 a consumer holds the process until it requests the next value")
    func holds() async {
        let table = BackgroundTaskTable {}
        let broadcast = Broadcast<Int>(name: "observer", initialValue: 0, holdingTasksIn: table)
        var iterator = broadcast.stream(startingWithLatest: true).makeAsyncIterator()
        #expect(await iterator.next() == 0)
        broadcast.post(1)
        #expect(table.observerNames == ["observer"])
        #expect(await iterator.next() == 1)
        #expect(table.observerNames == ["observer"])
        broadcast.post(2)
        #expect(await iterator.next() == 2)
        // After its expiration the consumer holds no task until it requests a value again.
        table.expireObservers()
        #expect(table.count == 0)
        broadcast.post(3)
        #expect(table.count == 0)
        #expect(await iterator.next() == 3)
        broadcast.post(4)
        #expect(table.observerNames == ["observer"])
    }

    @Test("B03 an abandoned stream holds no task")
    func givenUp() async {
        let table = BackgroundTaskTable {}
        let broadcast = Broadcast<Int>(name: "observer", initialValue: 0, holdingTasksIn: table)
        for await number in broadcast.stream(startingWithLatest: true) where number == 0 { break }
        broadcast.post(1)
        #expect(table.count == 0)
    }

    @Test("B03 a consumer that leaves its loop at a value of no importance, and keeps the stream, holds no task")
    func leaves() async {
        let table = BackgroundTaskTable {}
        let broadcast = Broadcast<Int>(name: "observer", initialValue: 0, holdingTasksIn: table) { $0 != 1 }
        var iterator = broadcast.stream(startingWithLatest: true).makeAsyncIterator()
        #expect(await iterator.next() == 0)
        broadcast.post(1)
        #expect(await iterator.next() == 1)
        broadcast.post(2)
        #expect(table.count == 0)
        // It counts again from its next request on.
        #expect(await iterator.next() == 2)
        broadcast.post(3)
        #expect(table.observerNames == ["observer"])
    }
}
