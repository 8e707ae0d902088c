import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Control", .timeLimit(.minutes(1)))
struct ControlTests {
    private func makeSerialDownloader(time: any TimeSource = SystemTime()) -> Downloader {
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = 1
        configuration.time = time
        return Downloader(configuration)
    }

    /// Creates an origin that delays the response for `/1` until the gate opens.
    private func makeOrigin(gate: Gate) throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            (request.path == "/1" ? [.wait(gate)] : []) + [.response(200, headers: [:], body: Fixture.image())]
        }
    }

    @Test("L22 a changed priority changes the position of a waiting download")
    @MainActor
    func livePriority() async throws {
        let gate = Gate()
        let origin = try makeOrigin(gate: gate)
        let downloader = makeSerialDownloader()
        let contexts = [LoadPriority.normal, .low, .normal, .high].map { JobContext(priority: $0) }
        let tasks = try contexts.enumerated().map { index, context in
            let request = try FetchRequest(url: "\(origin.url)/\(index + 1)")
            return Task.immediate { _ = try await downloader.fetch(request, context: context) }
        }
        contexts[1].priority = .high
        gate.open()
        for task in tasks { try await task.value }
        #expect(origin.requests.map(\.path) == ["/1", "/2", "/4", "/3"])
    }

    @Test("L03 a download that has waited longer than starvationLimit starts before those of higher priority")
    @MainActor
    func starvation() async throws {
        let (gate, time) = (Gate(), ManualTime())
        let origin = try makeOrigin(gate: gate)
        let downloader = makeSerialDownloader(time: time)
        func start(_ number: Int, priority: LoadPriority) throws -> Task<Void, any Error> {
            let request = try FetchRequest(url: "\(origin.url)/\(number)")
            return Task.immediate { _ = try await downloader.fetch(request, priority: priority) }
        }
        var tasks = [try start(1, priority: .normal), try start(2, priority: .low)]
        time.advance(by: .seconds(31))
        tasks += [try start(3, priority: .high), try start(4, priority: .high)]
        gate.open()
        for task in tasks { try await task.value }
        #expect(origin.requests.map(\.path) == ["/1", "/2", "/3", "/4"])
    }

    @Test("L03 maximumPerHost limits the downloads of one origin and delays no other origin")
    @MainActor
    func perHost() async throws {
        let gate = Gate()
        let slow = try ScriptedOrigin { _ in [.wait(gate), .response(200, headers: [:], body: Fixture.image())] }
        let quick = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        var configuration = Downloader.Configuration()
        configuration.maximumPerHost = 2
        let downloader = Downloader(configuration)
        let tasks = try (1...5).map { number in
            var request = try FetchRequest(url: "\(slow.url)/\(number)")
            request.timeout = .seconds(50)
            return Task.immediate { [request] in _ = try await downloader.fetch(request) }
        }
        #expect(try await downloader.fetch(url: quick.url).status == 200)
        #expect(downloader.counts == (waiting: 3, running: 2))
        gate.open()
        for task in tasks { try await task.value }
    }

    @Test("L22 suspended downloads do not start, running ones receive no bytes, and all resume")
    @MainActor
    func suspends() async throws {
        let chunk = [UInt8](repeating: 7, count: 65_536)
        let (gate, sent) = (Gate(), Gate())
        let origin = try ScriptedOrigin { request in
            guard request.path == "/large" else { return [.response(200, headers: [:], body: Fixture.image())] }
            return [
                .head(200, headers: ["Content-Length": "\(1_000 * chunk.count + 8)"]), .send(Fixture.image(length: 8)),
                .wait(gate),
                .sendRepeatedly(chunk, times: 1_000), .open(sent),
            ]
        }
        let downloader = Downloader()
        var large = try FetchRequest(url: origin.url + "/large")
        large.timeout = .seconds(50)
        let running = Task.immediate { [large] in try await downloader.fetch(large, priority: .low) }
        await origin.waitForRequests(count: 1)
        downloader.suspend(upTo: .low)
        gate.open()
        let small = try FetchRequest(url: origin.url + "/small")
        let waiting = Task.immediate { try await downloader.fetch(small, priority: .low) }
        #expect(downloader.counts == (waiting: 1, running: 1))
        for number in 0..<50 { _ = try await downloader.fetch(url: "\(origin.url)/urgent?\(number)") }
        #expect(!sent.isOpen)
        downloader.resume()
        #expect(try await waiting.value.status == 200)
        #expect(try await running.value.bytes.count == 1_000 * 65_536 + 8)
    }

    @Test("L22 a download that is suspended before its head receives all lines of the head together")
    @MainActor
    func suspendsBeforeHead() async throws {
        let gate = Gate(), image = Fixture.image(length: 300_000)
        let origin = try ScriptedOrigin { request in
            let response: ScriptedOrigin.Step = .response(
                200,
                headers: ["X-Long": String(repeating: "x", count: 900)],
                body: image
            )
            return request.path == "/held" ? [.wait(gate), response] : [response]
        }
        let downloader = Downloader()
        let request = try FetchRequest(url: "\(origin.url)/held")
        let held = Task.immediate { try await downloader.fetch(request, priority: .low) }
        await origin.waitForRequests(count: 1)
        downloader.suspend(upTo: .low)
        gate.open()
        for number in 0..<20 { _ = try await downloader.fetch(url: "\(origin.url)/urgent?\(number)") }
        downloader.resume()
        #expect(try await held.value.bytes == image)
    }

    @Test("L22 a suspended download whose priority is raised resumes")
    @MainActor
    func promotes() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        let downloader = Downloader()
        downloader.suspend(upTo: .low)
        let context = JobContext(priority: .low)
        let request = try FetchRequest(url: origin.url)
        let task = Task.immediate { try await downloader.fetch(request, context: context) }
        #expect(downloader.counts == (waiting: 1, running: 0))
        context.priority = .normal
        #expect(try await task.value.status == 200)
    }

    @Test("L22 suspended downloads occupy no slot, of all and of one origin", arguments: [true, false])
    @MainActor
    func suspendedTakeNoSlot(ofOneOrigin: Bool) async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            (request.path == "/urgent" ? [] : [.wait(gate)]) + [.response(200, headers: [:], body: Fixture.image())]
        }
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = ofOneOrigin ? 20 : 6
        configuration.maximumPerHost = ofOneOrigin ? 6 : 20
        let downloader = Downloader(configuration)
        let tasks = try (0..<8).map { number in
            let request = try FetchRequest(url: "\(origin.url)/\(number)")
            return Task.immediate { try await downloader.fetch(request, priority: .low).status }
        }
        await origin.waitForRequests(count: 6)
        downloader.suspend(upTo: .low)
        let urgent = try FetchRequest(url: origin.url + "/urgent")
        #expect(try await downloader.fetch(urgent, priority: .high).status == 200)
        #expect(downloader.counts == (waiting: 2, running: 6))
        downloader.resume()
        #expect(downloader.counts == (waiting: 2, running: 6))
        gate.open()
        for task in tasks { #expect(try await task.value == 200) }
    }

    @Test("L20 a body that is refused in a chunk delayed by the rate limit fails at once, with its own error")
    func refusedAfterPause() async throws {
        let (time, hasHead, gate) = (ManualTime(), Gate(), Gate())
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9000\r\n\r\n"
        let origin = try ScriptedOrigin { _ in [.send(Array(head.utf8) + Fixture.webPage), .wait(gate)] }
        var configuration = Downloader.Configuration()
        configuration.time = time
        configuration.maximumBytesPerSecond = 1_000_000
        let downloader = Downloader(configuration)
        let request = try FetchRequest(url: origin.url)
        let held = Task {
            await failure { () async throws(EideticError) in
                try await downloader.fetch(request) { _ in hasHead.open() }
            }
        }
        // The body arrives with the head and is not continued. The clock advances only until the exchange resumes, so a
        // download that hangs would hang for ever.
        await hasHead.wait()
        time.advance(by: .milliseconds(100))
        #expect(await held.value?.code == .notAnImage)
    }

    @Test("L22 offline, waiting downloads fail, and running ones continue through their redirects")
    @MainActor
    func offline() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            if request.path == "/a.png" { return [.response(200, headers: [:], body: Fixture.image())] }
            return [.wait(gate), .response(302, headers: ["Location": "/a.png"])]
        }
        let downloader = makeSerialDownloader()
        let tasks = try (0..<3).map { number in
            let request = try FetchRequest(url: "\(origin.url)/\(number)")
            return Task.immediate { try await downloader.fetch(request).status }
        }
        await origin.waitForRequests(count: 1)
        downloader.isOffline = true
        for task in tasks[1...] {
            let error = await #expect(throws: EideticError.self) { try await task.value }
            #expect(error?.code == .offline)
        }
        gate.open()
        #expect(try await tasks[0].value == 200)
        #expect(origin.requests.map(\.path) == ["/0", "/a.png"])
    }

    @Test("L20 the rate limit applies to all downloads together")
    func rate() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image(length: 2_000_000))] }
        let time = ManualTime(), start = time.uptime, record = RateRecord()
        var configuration = Downloader.Configuration()
        (configuration.maximumBytesPerSecond, configuration.time) = (4_000_000, time)
        let downloader = Downloader(configuration)
        let downloads = Task {
            defer { record.hasEnded.withLock { $0 = true } }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<3 {
                    group.addTask {
                        try await downloader.fetch(FetchRequest(url: "\(origin.url)/\(number)")) { progress in
                            let all = record.received.withLock { received in
                                received[number] = progress.received
                                return received.reduce(0, +)
                            }
                            // The tenth of a second in the bucket, and a chunk of each body.
                            let allowed = 4_000_000 * ((time.uptime - start).inSeconds + 0.1) + 3 * 65_536
                            if Double(all) > allowed { record.excess.withLock { $0.append(Double(all) - allowed) } }
                        }.bytes.count
                    }
                }
                for try await count in group { #expect(count == 2_000_000) }
            }
        }
        try await eventually("three downloads") {
            time.advance(by: .milliseconds(5))
            return record.hasEnded.withLock { $0 }
        }
        try await downloads.value
        #expect(record.excess.withLock { $0 } == [])
    }

    @Test("L02 a thousand cancelled requests leave nothing behind")
    func leavesNothing() async throws {
        // The bodies never end; each thread of the server ends when its client disconnects.
        let origin = try ScriptedOrigin { _ in [.head(200), .send(Fixture.image())] }
        let downloader = Downloader()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask { _ = try? await downloader.fetch(url: "\(origin.url)/\(number)") }
            }
            await origin.waitForRequests(count: downloader.maximumPerHost)
            group.cancelAll()
        }
        // The engine removes the running exchanges before it starts this one.
        let otherOrigin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        #expect(try await downloader.fetch(url: otherOrigin.url).status == 200)
        #expect(downloader.counts == (waiting: 0, running: 0))
        #expect(origin.requests.count < 1_000)
    }
}

/// The bytes that three downloads have received, and those that were too early.
private final class RateRecord: Sendable {
    let received = Guarded([Int](repeating: 0, count: 3))
    let excess = Guarded<[Double]>([])
    let hasEnded = Guarded(false)
}
