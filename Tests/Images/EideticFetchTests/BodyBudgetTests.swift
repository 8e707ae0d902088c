import EideticCore
import EideticFetch
import EideticTestSupport
import Testing

/// The largest of several numbers.
private final class Peak: Sendable {
    private let state = Guarded(0)

    var value: Int { state.withLock { $0 } }

    func add(_ number: Int) { state.withLock { $0 = max($0, number) } }
}

@Suite("Bodies in memory", .timeLimit(.minutes(1)))
struct BodyBudgetTests {
    private let mebibyte = 1 << 20

    private func makeDownloader(limit: ByteCount, maximumPerHost: Int = 6) -> Downloader {
        var configuration = Downloader.Configuration()
        configuration.bodyMemoryLimit = limit
        configuration.maximumPerHost = maximumPerHost
        return Downloader(configuration)
    }

    @Test(
        "C18 bodies grow below the limit; at it only the first mebibyte of each, and one body, do",
        arguments: [-1, 0, 1]
    )
    func limit(surplus: Int) {
        let budget = BodyBudget(limit: .mebibytes(8))
        let shares = (0..<4).map { _ in budget.makeShare(for: JobContext()) }
        #expect(shares[0].add(5 * mebibyte))
        #expect(shares[1].add(3 * mebibyte + surplus))
        // At the limit the share that grows first is the exempt one.
        #expect(shares[2].add(mebibyte))
        #expect(shares[2].add(1) == (surplus < 0))
        #expect(shares[3].add(mebibyte))
        #expect(!shares[3].add(1))
        #expect(shares[1].add(1) == (surplus >= 0))
        shares[1].release()
        shares[2].release()
        #expect(shares[3].add(1))
        #expect(budget.usedBytes == 6 * mebibyte + 2)
    }

    @Test("C18 the body that may exceed the limit holds others only while one of them waits")
    func holdsOthers() {
        let budget = BodyBudget(limit: .mebibytes(2))
        let shares = (0..<2).map { _ in budget.makeShare(for: JobContext()) }
        #expect(shares[0].add(3 * mebibyte) && !shares[0].holdsOthers)
        #expect(shares[1].add(mebibyte) && !shares[0].holdsOthers)
        #expect(!shares[1].add(1))
        #expect(shares[0].holdsOthers && !shares[1].holdsOthers)
        shares[0].release()
        #expect(shares[1].add(1) && !shares[1].holdsOthers)
    }

    @Test("C18 the bytes of a body move with the priority of its download, and leave nothing behind")
    func changedPriority() {
        let budget = BodyBudget(limit: .mebibytes(8)), context = JobContext(priority: .low)
        let share = budget.makeShare(for: context)
        share.add(5 * mebibyte)
        context.priority = .high
        share.add(1)
        #expect(budget.usedBytes == 5 * mebibyte + 1)
        share.release()
        #expect(budget.usedBytes == 0)
    }

    @Test("C18 a body that is not needed leaves no bytes, whether it was released or dropped")
    func released() {
        let budget = BodyBudget(limit: 10)
        var share: BodyShare? = budget.makeShare(for: JobContext())
        share?.add(5)
        share?.markComplete()
        share?.release()
        share?.release()
        #expect(budget.usedBytes == 0)
        share = budget.makeShare(for: JobContext())
        share?.add(5)
        #expect(budget.usedBytes == 5)
        share = nil
        #expect(budget.usedBytes == 0)
    }

    @Test("C18 waiting for room ends with a release, a raised priority or a cancellation")
    func waiting() async throws {
        let budget = BodyBudget(limit: 10)
        let share = budget.makeShare(for: JobContext(priority: .normal))
        share.add(9)
        share.markComplete()
        try await budget.waitForRoom(for: JobContext())
        share.add(1)
        try await budget.waitForRoom(for: JobContext(priority: .high))
        let context = JobContext(priority: .low)
        let cancelled = Task {
            await failure { () async throws(EideticError) in try await budget.waitForRoom(for: context) }
        }
        cancelled.cancel()
        #expect(await cancelled.value?.code == .cancelled)
        let raised = JobContext(priority: .low)
        let waiter = Task { try await budget.waitForRoom(for: raised) }
        raised.priority = .high
        try await waiter.value
        let last = Task { try await budget.waitForRoom(for: JobContext()) }
        share.release()
        try await last.value
    }

    @Test("C18 no download starts while complete bodies have reached the limit, except one of higher priority")
    func start() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, body: Fixture.image(length: 1_000))] }
        let downloader = makeDownloader(limit: 1_000)
        let first = try await downloader.fetch(try FetchRequest(url: origin.url + "/1"), context: JobContext())
        #expect(downloader.bodyBudget.usedBytes == 1_000)
        let request = try FetchRequest(url: origin.url + "/2")
        let task = Task { try await downloader.fetch(request, context: JobContext()).bytes.count }
        try await eventually("number of waiting downloads", is: 1) { downloader.counts.waiting }
        let urgent = try FetchRequest(url: origin.url + "/3")
        #expect(try await downloader.fetch(urgent, priority: .high).bytes.count == 1_000)
        #expect(downloader.counts == (waiting: 1, running: 0))
        first.share?.release()
        #expect(try await task.value == 1_000)
        #expect(origin.requests.map(\.path) == ["/1", "/3", "/2"])
    }

    @Test("C18 one byte below the limit another download starts, and a waiting one can be cancelled")
    func startBelow() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, body: Fixture.image(length: 1_000))] }
        let downloader = makeDownloader(limit: 1_001)
        let first = try await downloader.fetch(try FetchRequest(url: origin.url + "/1"), context: JobContext())
        let second = try await downloader.fetch(try FetchRequest(url: origin.url + "/2"), context: JobContext())
        #expect(downloader.bodyBudget.usedBytes == 2_000)
        let request = try FetchRequest(url: origin.url + "/3")
        let task = Task { await failure { () async throws(EideticError) in try await downloader.fetch(request) } }
        try await eventually("number of waiting downloads", is: 1) { downloader.counts.waiting }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(downloader.counts == (waiting: 0, running: 0))
        #expect([first, second].allSatisfy { $0.bytes.count == 1_000 })
    }

    @Test("C18 of four bodies larger than the limit one proceeds at a time, and all arrive")
    func larger() async throws {
        let body = Fixture.image(length: 6 * mebibyte)
        let origin = try ScriptedOrigin { _ in [.response(200, body: body)] }
        let downloader = makeDownloader(limit: .mebibytes(2))
        let peak = Peak()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...4 {
                let request = try FetchRequest(url: "\(origin.url)/\(number)")
                group.addTask {
                    let response = try await downloader.fetch(request, context: JobContext()) { _ in
                        peak.add(downloader.bodyBudget.usedBytes)
                    }
                    #expect(response.bytes.count == 6 << 20)
                    response.share?.release()
                }
            }
            try await group.waitForAll()
        }
        // The limit, one body, the first mebibyte of the others, and a chunk of each.
        #expect(peak.value <= (2 + 6 + 3) * mebibyte + 4 * 65_536)
        #expect(downloader.bodyBudget.usedBytes == 0)
    }

    @Test("C18 a download that is held for memory frees its bytes when it is cancelled")
    func cancelled() async throws {
        let body = Fixture.image(length: 3 * mebibyte)
        let origin = try ScriptedOrigin { _ in [.response(200, body: body)] }
        let downloader = makeDownloader(limit: .mebibytes(4))
        let first = try await downloader.fetch(try FetchRequest(url: origin.url + "/1"), context: JobContext())
        let blocker = downloader.bodyBudget.makeShare(for: JobContext())
        blocker.add(2 * mebibyte)
        #expect(blocker.add(1))
        let (request, isHeld) = (try FetchRequest(url: origin.url + "/2"), Gate())
        let task = Task {
            await failure { () async throws(EideticError) in
                try await downloader.fetch(request) { if $0.received > 1 << 20 { isHeld.open() } }
            }
        }
        await isHeld.wait()
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        try await eventually("number of running downloads", is: 0) { downloader.counts.running }
        #expect(downloader.bodyBudget.usedBytes == 5 * mebibyte + 1)
        #expect(first.bytes.count == 3 * mebibyte)
    }
}
