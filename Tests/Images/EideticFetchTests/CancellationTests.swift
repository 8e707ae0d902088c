import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Cancelled downloads", .timeLimit(.minutes(10)))
struct CancellationTests {
    @Test(
        "L02 100,000 cancelled requests leak no task, descriptor, thread or file",
        arguments: [true, false]
    )
    func leavesNothing(keepsBeginnings: Bool) async throws {
        let total = Torture.repetitions(1_000, full: 100_000)
        let directory = try TemporaryDirectory(named: "cancelled")
        // Half of each body, so that there is a partial body to store.
        let half = Fixture.image(length: 200_000)
        let origin = try ScriptedOrigin { request in
            if request.path == "/whole" { return [.response(200, headers: [:], body: Fixture.image())] }
            return [.head(200, headers: ["ETag": "\"v1\"", "Content-Length": "400000"]), .send(half)]
        }
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = 32
        if keepsBeginnings { configuration.partialDirectory = directory.path(of: "partial") }
        let downloader = Downloader(configuration)
        _ = try await downloader.fetch(url: origin.url + "/whole")
        let before = try ResourceUsage()
        for start in stride(from: 0, to: total, by: 1_000) {
            try await cancelRequests(start..<min(total, start + 1_000), to: origin, through: downloader)
        }
        // The engine completes this request after all earlier commands.
        _ = try await downloader.fetch(url: origin.url + "/whole")
        #expect(downloader.counts == (waiting: 0, running: 0))
        #expect(downloader.jobCount == 0)
        #expect((try? FileSystem().entryNames(in: directory.path(of: "partial"))) ?? [] == [])
        let after = try await ResourceUsage.settled(like: before)
        if Torture.isFull { print("\(total) cancelled requests: \(before) → \(after)") }
        // One idle connection, and a few more worker threads.
        #expect(after.descriptors <= before.descriptors + 2, "\(before) → \(after)")
        #expect(after.threads <= before.threads + 8, "\(before) → \(after)")
        if !Sanitizer.isActive { #expect(after.memory <= before.memory + 64 << 20, "\(before) → \(after)") }
    }

    private func cancelRequests(_ numbers: Range<Int>, to origin: ScriptedOrigin, through downloader: Downloader)
        async throws
    {
        let requestCount = origin.requests.count
        let requests = try numbers.map { try FetchRequest(url: "\(origin.url)/\($0)") }
        await withTaskGroup(of: Void.self) { group in
            for request in requests { group.addTask { _ = try? await downloader.fetch(request) } }
            // Some requests are receiving their bodies, most are in the queue.
            await origin.waitForRequests(count: requestCount + 8)
            group.cancelAll()
        }
    }
}
