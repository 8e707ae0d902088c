import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

/// Time-outs, with a clock that the test advances, so that the speed of the machine does not matter.
@Suite("Time-outs and stops", .timeLimit(.minutes(2)))
struct TimeoutTests {
    private let time = ManualTime()
    private let small: ScriptedOrigin

    init() throws {
        small = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
    }

    private func makeDownloader() -> Downloader {
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = 20
        configuration.time = time
        return Downloader(configuration)
    }

    /// Advances the clock in steps that are too short to count as a stop; the engine reads the clock after each.
    private func advance(by seconds: Double, downloader: Downloader) async throws {
        // The engine receives pending bytes before the clock advances.
        try await waitForEngine(downloader)
        for _ in 0..<Int(seconds / 0.9) {
            time.advance(by: .milliseconds(900))
            try await waitForEngine(downloader)
        }
    }

    /// Returns after at least one iteration of the engine's loop: the second request starts after the first has ended.
    private func waitForEngine(_ downloader: Downloader) async throws {
        for _ in 0..<2 { _ = try await downloader.fetch(url: small.url) }
    }

    @Test("L24 the clock counts the time between two advances; a longer one is a stop, unless the engine was idle")
    func clock() {
        let clock = ActiveClock(uptime: .seconds(100))
        clock.advance(to: .milliseconds(100_400))
        clock.advance(to: .milliseconds(101_400))
        #expect(clock.now == .milliseconds(1_400))
        #expect(clock.stopCount == 0)
        clock.advance(to: .seconds(140))
        #expect(clock.now == .milliseconds(1_400) + ActiveClock.maximumWait)
        #expect(clock.stopCount == 1)
        clock.advance(to: .seconds(200), isIdle: true)
        #expect(clock.now == .milliseconds(61_400) + ActiveClock.maximumWait)
        #expect(clock.stopCount == 1)
    }

    @Test(
        "L04 L07 15 seconds without a byte time out, before the head and within the body; it is no permanent failure",
        arguments: [true, false]
    )
    func silence(beforeHead: Bool) async throws {
        let (gate, isThere) = (Gate(), Gate())
        let origin = try ScriptedOrigin { _ in
            let head: [ScriptedOrigin.Step] = [
                .head(200, headers: ["Content-Length": "2000"]), .send(Fixture.image(length: 1_000)),
            ]
            return (beforeHead ? [] : head) + [.wait(gate)]
        }
        let (downloader, request) = (makeDownloader(), try FetchRequest(url: origin.url + "/a.png"))
        let task = Task {
            await failure { () async throws(EideticError) in
                try await downloader.fetch(request) { if $0.received == 1_000 { isThere.open() } }
            }
        }
        if beforeHead { await origin.waitForRequests(count: 1) } else { await isThere.wait() }
        try await advance(by: 14, downloader: downloader)
        #expect(downloader.counts.running == 1)
        try await advance(by: 2, downloader: downloader)
        let error = await task.value
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains(beforeHead ? "before the response" : "within the body") == true)
        #expect(error?.message.contains("no byte for 15.0 s") == true)
        #expect(downloader.failures.entries.isEmpty)
    }

    @Test("L04 by default a download of more than the least rate does not time out, however long it takes")
    func longDownload() async throws {
        let steps = 8, part = 10_000
        let (gates, arrivals) = ((0..<steps).map { _ in Gate() }, (0..<steps).map { _ in Gate() })
        let image = Fixture.image(length: steps * part)
        let origin = try ScriptedOrigin { _ in
            [.head(200, headers: ["Content-Length": "\(image.count)"])]
                + gates.enumerated().flatMap { index, gate in
                    [.wait(gate), .send(Array(image[part * index..<part * (index + 1)]))]
                }
        }
        let downloader = makeDownloader(), request = try FetchRequest(url: origin.url)
        let task = Task {
            try await downloader.fetch(request) { progress in
                for index in 0..<progress.received / part { arrivals[index].open() }
            }
        }
        await origin.waitForRequests(count: 1)
        // 1,111 bytes a second, 72 seconds long.
        for (gate, arrival) in zip(gates, arrivals) {
            try await advance(by: 9, downloader: downloader)
            gate.open()
            await arrival.wait()
        }
        #expect(try await task.value.bytes == image)
    }

    @Test("L04 a download that keeps receiving bytes does not time out, without a least rate")
    func trickle() async throws {
        let (gates, arrivals) = ((0..<4).map { _ in Gate() }, (0..<4).map { _ in Gate() })
        let origin = try ScriptedOrigin { _ in
            [.head(200, headers: ["Content-Length": "40"])]
                + gates.enumerated().flatMap { index, gate in
                    [.wait(gate), .send(Array(Fixture.image(length: 40)[10 * index..<10 * index + 10]))]
                }
        }
        var slowRequest = try FetchRequest(url: origin.url)
        slowRequest.minimumBytesPerSecond = 0
        let (downloader, request) = (makeDownloader(), slowRequest)
        let task = Task {
            try await downloader.fetch(request) { progress in
                if progress.received > 0 { arrivals[progress.received / 10 - 1].open() }
            }
        }
        await origin.waitForRequests(count: 1)
        for (gate, arrival) in zip(gates, arrivals) {
            try await advance(by: 10, downloader: downloader)
            gate.open()
            await arrival.wait()
        }
        #expect(try await task.value.bytes == Fixture.image(length: 40))
    }

    @Test("L04 the least rate is an average over periods: one byte below it, at it and one above")
    func rateWindow() {
        for (surplus, remaining) in [(-1, Duration.zero), (0, .seconds(30)), (1, .seconds(30))] {
            var window = RateWindow()
            #expect(window.check(at: .seconds(100), length: .seconds(30), bytesPerSecond: 500) == nil)
            window.add(15_000 + surplus, at: .seconds(100))
            #expect(window.check(at: .seconds(129), length: .seconds(30), bytesPerSecond: 500) == .seconds(1))
            #expect(window.check(at: .seconds(130), length: .seconds(30), bytesPerSecond: 500) == remaining)
        }
        var window = RateWindow()
        window.add(1_000_000, at: .zero)
        #expect(window.check(at: .seconds(30), length: .seconds(30), bytesPerSecond: 500) == .seconds(30))
        #expect(window.check(at: .seconds(60), length: .seconds(30), bytesPerSecond: 500) == .zero)
    }

    @Test("L04 a byte from time to time times out after twice the time-out, but not while it is suspended")
    func dripping() async throws {
        let (gates, arrivals) = ((0..<4).map { _ in Gate() }, (0..<4).map { _ in Gate() })
        let origin = try ScriptedOrigin { _ in
            [.head(200, headers: ["Content-Length": "100000"])]
                + gates.flatMap { [.wait($0), .send(Array(repeating: 0x89, count: 1))] }
        }
        var request = try FetchRequest(url: origin.url)
        request.requiresImage = false
        let downloader = makeDownloader()
        let task = Task { [request] in
            await failure { () async throws(EideticError) in
                try await downloader.fetch(request, priority: .low) {
                    if $0.received > 0 { arrivals[$0.received - 1].open() }
                }
            }
        }
        await origin.waitForRequests(count: 1)
        for index in 0..<3 {
            try await advance(by: 9, downloader: downloader)
            gates[index].open()
            await arrivals[index].wait()
            downloader.suspend(upTo: .low)
            try await advance(by: 60, downloader: downloader)
            downloader.resume()
        }
        #expect(downloader.counts.running == 1)
        try await advance(by: 6, downloader: downloader)
        let error = await task.value
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("less than 500 bytes per second for 30.0 s") == true)
    }

    @Test("L04 a slow download times out at its total time-out")
    func total() async throws {
        let (gate, isThere) = (Gate(), Gate())
        let origin = try ScriptedOrigin { _ in [.head(200), .send(Fixture.image(length: 8)), .wait(gate)] }
        var request = try FetchRequest(url: origin.url)
        request.totalTimeout = .seconds(5)
        let downloader = makeDownloader()
        let task = Task { [request] in
            await failure { () async throws(EideticError) in
                try await downloader.fetch(request) { if $0.received > 0 { isThere.open() } }
            }
        }
        await isThere.wait()
        try await advance(by: 6, downloader: downloader)
        let error = await task.value
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("not complete after 5.0 s") == true)
    }

    @Test("L04 the time of a suspension does not count for the total time-out")
    func totalWithoutSuspension() async throws {
        let (gate, isThere) = (Gate(), Gate())
        let origin = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "1000"]), .send(Fixture.image(length: 8)), .wait(gate),
                .send(Fixture.imageRemainder(from: 8)),
            ]
        }
        var request = try FetchRequest(url: origin.url)
        request.totalTimeout = .seconds(5)
        let downloader = makeDownloader()
        let task = Task { [request] in
            try await downloader.fetch(request, priority: .low) { if $0.received > 0 { isThere.open() } }.bytes
        }
        await isThere.wait()
        for _ in 0..<2 {
            try await advance(by: 2, downloader: downloader)
            downloader.suspend(upTo: .low)
            try await advance(by: 10, downloader: downloader)
            downloader.resume()
        }
        gate.open()
        #expect(try await task.value == Fixture.image())
    }

    /// Starts ten downloads that have received half of their bytes; the server sends the rest when the gate opens.
    private func startTenHalves(
        downloader: Downloader,
        gate: Gate,
        timeout: Duration = .seconds(15)
    ) async throws -> (origin: ScriptedOrigin, tasks: [Task<FetchResponse, any Error>]) {
        // Created once: under a sanitizer ten threads would take longer than the time-out.
        let (beginning, rest) = (Fixture.image(length: 50_000), Fixture.imageRemainder(from: 50_000, of: 100_000))
        let origin = try ScriptedOrigin { _ in
            [.head(200, headers: ["Content-Length": "100000"]), .send(beginning), .wait(gate), .send(rest)]
        }
        let halves = (0..<10).map { _ in Gate() }
        let tasks = try halves.enumerated().map { number, half in
            var request = try FetchRequest(url: "\(origin.url)/\(number)")
            request.timeout = timeout
            return Task { [request] in
                // Also after a failure, so that the test fails instead of waiting.
                defer { half.open() }
                return try await downloader.fetch(request) { if $0.received >= 50_000 { half.open() } }
            }
        }
        for half in halves { await half.wait() }
        return (origin, tasks)
    }

    @Test("L24 half a minute in which the process does not run times out none of ten downloads")
    func stopOnTheClock() async throws {
        let (downloader, gate) = (makeDownloader(), Gate())
        let (origin, tasks) = try await startTenHalves(downloader: downloader, gate: gate)
        time.advance(by: .seconds(30))
        try await waitForEngine(downloader)
        try await advance(by: 10, downloader: downloader)
        gate.open()
        for task in tasks {
            let response = try await task.value
            #expect(response.bytes == Fixture.image(length: 100_000))
            #expect(response.metrics.attemptCount == 1)
        }
        #expect(origin.requests.count == 10)
    }

    @Test("L24 a download whose connection is lost while the process is stopped is retried without ignoresFailureList")
    func lostOnTheClock() async throws {
        let (downloader, gate, isThere, count) = (makeDownloader(), Gate(), Gate(), Counter())
        let (beginning, image) = (Fixture.image(length: 50_000), Fixture.image(length: 100_000))
        let origin = try ScriptedOrigin { _ in
            guard count.next() == 0 else { return [.response(200, headers: [:], body: image)] }
            return [.head(200, headers: ["Content-Length": "100000"]), .send(beginning), .wait(gate), .reset]
        }
        let request = try FetchRequest(url: origin.url)
        let task = Task {
            defer { isThere.open() }
            return try await downloader.fetch(request) { if $0.received == 50_000 { isThere.open() } }
        }
        await isThere.wait()
        time.advance(by: .seconds(30))
        try await waitForEngine(downloader)
        gate.open()
        let response = try await task.value
        #expect(response.bytes == image)
        #expect(response.metrics.attemptCount == 2)
    }

    @Test("L24 a process that is stopped for longer than the time-out loses none of ten downloads")
    func stopped() async throws {
        var configuration = Downloader.Configuration()
        (configuration.maximumConcurrent, configuration.maximumPerHost) = (10, 10)
        let (downloader, gate) = (Downloader(configuration), Gate())
        let (origin, tasks) = try await startTenHalves(downloader: downloader, gate: gate, timeout: stopTimeout)
        #expect(try await stopThisProcess())
        gate.open()
        for task in tasks { #expect(try await task.value.bytes == Fixture.image(length: 100_000)) }
        #expect(origin.requests.count >= 10)
    }

    @Test(
        "L24 a server that keeps sending while this process is stopped loses none of ten downloads",
        .needsNginx
    )
    func stoppedAlone() async throws {
        let server = try await Nginx(.init(server: "limit_rate_after 50k; limit_rate 100k;"))
        let image = Fixture.image(length: 400_000)
        let url = try server.addFile(image, at: "a.png")
        var configuration = Downloader.Configuration()
        (configuration.maximumConcurrent, configuration.maximumPerHost) = (10, 10)
        let downloader = Downloader(configuration)
        let begun = (0..<10).map { _ in Gate() }
        let tasks = try begun.enumerated().map { number, gate in
            var request = try FetchRequest(url: "\(url)?\(number)")
            request.timeout = stopTimeout
            return Task { [request] in
                defer { gate.open() }
                return try await downloader.fetch(request) { if $0.received > 0 { gate.open() } }.bytes
            }
        }
        for gate in begun { await gate.wait() }
        #expect(try await stopThisProcess())
        for task in tasks { #expect(try await task.value == image) }
    }

    /// A time-out that is shorter than the stop.
    private var stopTimeout: Duration { Torture.isFull ? .seconds(15) : .seconds(1) }

    /// Stops all threads of this process for half a minute; for two seconds in a short run.
    private func stopThisProcess() async throws -> Bool {
        let script = "kill -STOP \(getpid()); sleep \(Torture.isFull ? 30 : 2); kill -CONT \(getpid())"
        return try await Subprocess.run("sh", arguments: ["-c", script]).status == .exited(0)
    }
}
