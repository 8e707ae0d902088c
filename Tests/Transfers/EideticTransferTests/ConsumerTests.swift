import EideticCore
import EideticTestSupport
import EideticTransfer
import Glibc
import Testing

/// Consumers of events that leave, and consumers that share a sequence.
@Suite("Consumers of events", .timeLimit(.minutes(1)))
struct ConsumerTests {
    private let model = ModelService()
    private let directory: TemporaryDirectory
    private let session: BackgroundURLSession

    init() throws {
        directory = try TemporaryDirectory()
        session = BackgroundURLSession(configuration: .init(identifier: "s"), delegate: nil, provider: model)
    }

    /// Starts a download, and returns the number of its task.
    private func start(_ path: String = "/a") async throws -> UInt64 {
        let task = try session.downloadTask(with: .init(url: "http://localhost\(path)"))
        task.resume()
        try await task.waitUntilAccepted()
        return task.taskIdentifier
    }

    private var acknowledged: [UInt64] { model.state.withLock { $0.acknowledged } }

    /// Requests events until one is acknowledged, and returns the tasks of the files that came.
    private func takeAll(_ events: BackgroundURLSession.Events) async -> [UInt64] {
        let files = Guarded<[UInt64]>([])
        let consumer = Task {
            for await event in events {
                guard case .didFinishDownloading(let task, let path) = event else { continue }
                let contents = try? FileSystem().contents(of: path)
                if contents == Array("x".utf8) { files.withLock { $0.append(task.taskIdentifier) } }
            }
        }
        _ = await model.wait { $0.acknowledged.first }
        consumer.cancel()
        await consumer.value
        return files.withLock { $0 }
    }

    @Test(
        "B14 an event is not acknowledged if its consumer is cancelled while it handles it; the next one has it again"
    )
    func cancelledWhileHandling() async throws {
        let number = try await start()
        let events = session.events, taken = Gate(), cancelled = Gate()
        let first = Task {
            var count = 0
            for await _ in events {
                count += 1
                taken.open()
                await cancelled.wait()
            }
            return count
        }
        try model.finish(model.transfer(0), body: "x", in: directory)
        await taken.wait()
        first.cancel()
        cancelled.open()
        #expect(await first.value == 1)
        #expect(acknowledged.isEmpty)
        #expect(await takeAll(session.events) == [number])
    }

    @Test("B14 an event is not acknowledged if its consumer leaves the loop with it, or never requests it")
    func leavesWithEvent() async throws {
        let number = try await start()
        do {
            let left = session.events, unread = session.events
            try model.finish(model.transfer(0), body: "x", in: directory)
            for await event in left { if case .didFinishDownloading = event { break } }
            withExtendedLifetime(unread) {}
        }
        #expect(acknowledged.isEmpty)
        #expect(await takeAll(session.events) == [number])
    }

    @Test("B14 an event that one consumer has handled is acknowledged although another one has gone with it")
    func otherConsumerHandles() async throws {
        let number = try await start()
        // The sequence ends with its task.
        let leaving = Task { [events = session.events] in
            for await event in events { if case .didFinishDownloading = event { return } }
        }
        let other = session.events
        try model.finish(model.transfer(0), body: "x", in: directory)
        #expect(await takeAll(other) == [number])
        await leaving.value
        #expect(try await session.allTasks.isEmpty)
    }

    @Test(
        "B14 iterators of one sequence share its events: each goes to one, and the other goes on when one is cancelled"
    )
    func sharesEvents() async throws {
        let events = session.events, ends = TaskNumbers()
        let consumers = [collectEnds(of: events, in: ends), collectEnds(of: events, in: ends)]
        var numbers: [UInt64] = []
        for index in 0..<20 { numbers.append(try await start("/\(index)")) }
        for index in 0..<20 { try model.finish(model.transfer(index), body: "x", in: directory) }
        _ = await model.wait { $0.acknowledged.count == 20 ? true : nil }
        #expect(ends.all == numbers)
        consumers[0].cancel()
        await consumers[0].value
        numbers.append(try await start("/20"))
        try model.finish(model.transfer(20), body: "x", in: directory)
        _ = await model.wait { $0.acknowledged.count == 21 ? true : nil }
        #expect(ends.all == numbers)
        consumers[1].cancel()
        await consumers[1].value
    }

    private func collectEnds(
        of events: BackgroundURLSession.Events,
        in ends: TaskNumbers
    ) -> Task<Void, Never> {
        Task {
            for await event in events {
                if case .didComplete(let task, nil) = event { ends.append(task.taskIdentifier) }
            }
        }
    }

    @Test("B14 a download whose awaiting task was cancelled is not acknowledged: the next caller has its file")
    func cancelledValue() async throws {
        let task = try session.downloadTask(with: .init(url: "http://localhost/a"))
        task.resume()
        try await task.waitUntilAccepted()
        let paths = ["first", "second"].map { directory.path(of: $0) }
        let cancelled = Task.immediate { [paths] in try await task.value(movingFileTo: paths[0]) }
        cancelled.cancel()
        await #expect(throws: EideticError.self) { try await cancelled.value }
        try model.finish(model.transfer(0), body: "x", in: directory)
        // Another transfer's event is handled after this one would have been.
        let other = try session.downloadTask(with: .init(url: "http://localhost/b"))
        other.resume()
        try await other.waitUntilAccepted()
        try model.finish(model.transfer(1), body: "y", in: directory)
        try await other.value(movingFileTo: directory.path(of: "other"))
        #expect(access(paths[0], F_OK) != 0)
        try await task.value(movingFileTo: paths[1])
        #expect(try FileSystem().contents(of: paths[1]) == Array("x".utf8))
        #expect(access(paths[0], F_OK) != 0)
    }

    @Test("B14 the earliest date of a task and the connections of its session reach the transfer process")
    func settingsAreHandedOver() async throws {
        var configuration = BackgroundURLSession.Configuration(identifier: "settings")
        configuration.httpMaximumConnectionsPerHost = 2
        let session = BackgroundURLSession(configuration: configuration, delegate: nil, provider: model)
        let task = try session.downloadTask(with: .init(url: "http://localhost/a"))
        let date = Timestamp(seconds: 2_000_000_000)
        task.earliestBeginDate = date
        task.resume()
        try await task.waitUntilAccepted()
        #expect(task.earliestBeginDate == date && model.requests.last?.earliestBegin == date)
        let limits = model.state.withLock { state in
            state.commands.compactMap { command -> Int? in
                guard case .openSession(let session) = command else { return nil }
                return session.identifier == "settings" ? session.connectionsPerHost : nil
            }
        }
        #expect(limits == [2])
    }

    @Test("B14 a session needs a connection to a host", arguments: [0, 1])
    func connectionsAreChecked(_ limit: Int) {
        var configuration = BackgroundURLSession.Configuration(identifier: "s")
        configuration.httpMaximumConnectionsPerHost = limit
        #expect(((try? configuration.validate()) != nil) == (limit > 0))
    }

    @Test("B14 an event whose iterator is released goes to another iterator of the sequence")
    func passesEventOn() async throws {
        let number = try await start()
        let events = session.events
        var first: BackgroundURLSession.Events.Iterator? = events.makeAsyncIterator()
        try model.finish(model.transfer(0), body: "x", in: directory)
        guard case .didFinishDownloading? = await first?.next() else {
            Issue.record("the file is not delivered first")
            return
        }
        async let second = takeAll(events)
        first = nil
        #expect(await second == [number])
    }
}

/// The numbers of tasks in the order of their events.
private final class TaskNumbers: Sendable {
    private let numbers = Guarded<[UInt64]>([])

    var all: [UInt64] { numbers.withLock { $0 } }
    func append(_ number: UInt64) { numbers.withLock { $0.append(number) } }
}
