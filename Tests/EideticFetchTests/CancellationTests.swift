import EideticCore
import EideticFetch
import EideticTestSupport
import Testing

@Suite("Cancelled downloads", .timeLimit(.minutes(10)))
struct CancellationTests {
    @Test(
        "L02 100,000 requests that are cancelled leave no task, no descriptor, no thread and no file behind",
        arguments: [true, false]
    )
    func leavesNothing(keepsBeginnings: Bool) async throws {
        let total = Torture.count(1_000, full: 100_000)
        let directory = try TemporaryDirectory("cancelled")
        // Half of each body, so that there would be a beginning to keep.
        let half = Fixture.picture(200_000)
        let origin = try ScriptedOrigin { request in
            if request.path == "/whole" { return [.answer(200, [:], Fixture.picture())] }
            return [.head(200, ["ETag": "\"v1\"", "Content-Length": "400000"]), .send(half)]
        }
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = 32
        if keepsBeginnings { configuration.partialDirectory = directory.path("partial") }
        let downloader = Downloader(configuration)
        _ = try await downloader.fetch(origin.url + "/whole")
        let before = try Usage()
        for start in stride(from: 0, to: total, by: 1_000) {
            try await cancel(start..<min(total, start + 1_000), origin, downloader)
        }
        // What is asked now is answered after the engine has done all that was asked before.
        _ = try await downloader.fetch(origin.url + "/whole")
        #expect(downloader.counts == (waiting: 0, running: 0))
        #expect(downloader.jobCount == 0)
        #expect((try? FileSystem().names(in: directory.path("partial"))) ?? [] == [])
        let after = try await Usage.settled(like: before)
        if Torture.isFull { print("\(total) cancelled requests: \(before) became \(after)") }
        // The connection that is kept, and a worker more or less.
        #expect(after.descriptors <= before.descriptors + 2, "\(before) became \(after)")
        #expect(after.threads <= before.threads + 8, "\(before) became \(after)")
        if !Sanitizer.isAtWork { #expect(after.memory <= before.memory + 64 << 20, "\(before) became \(after)") }
    }

    private func cancel(_ numbers: Range<Int>, _ origin: ScriptedOrigin, _ downloader: Downloader) async throws {
        let asked = origin.requests.count
        let requests = try numbers.map { try FetchRequest(url: "\(origin.url)/\($0)") }
        await withTaskGroup(of: Void.self) { group in
            for request in requests { group.addTask { _ = try? await downloader.fetch(request) } }
            // Some are in the middle of their bodies, most are in the queue.
            await origin.waitForRequests(asked + 8)
            group.cancelAll()
        }
    }
}
