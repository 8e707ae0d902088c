import EideticCore
import EideticFetch
import EideticTestSupport
import Glibc
import Testing

/// What counts for a time-out, on a clock that the test moves: how fast the machine is does not matter.
@Suite("Time-outs and stops", .timeLimit(.minutes(2)))
struct TimeoutTests {
    private let time = ManualTime()
    private let small: ScriptedOrigin

    init() throws {
        small = try ScriptedOrigin { _ in [.answer(200, [:], Fixture.picture())] }
    }

    private func downloader() -> Downloader {
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = 20
        configuration.time = time
        return Downloader(configuration)
    }

    /// Lets time pass in steps that are too short for a stop; the engine looks at its clock after each.
    private func pass(_ seconds: Double, _ downloader: Downloader) async throws {
        // What has come so far came before.
        try await look(downloader)
        for _ in 0..<Int(seconds / 0.9) {
            time.advance(by: .milliseconds(900))
            try await look(downloader)
        }
    }

    /// Returns after the engine has gone once round at least: what is asked second begins after the first has ended.
    private func look(_ downloader: Downloader) async throws {
        for _ in 0..<2 { _ = try await downloader.fetch(small.url) }
    }

    @Test("L24 time counts that passes between two looks; a longer pause is a stop, unless the engine slept")
    func clock() {
        let clock = ActiveClock(uptime: .seconds(100))
        clock.look(at: .milliseconds(100_400))
        clock.look(at: .milliseconds(101_400))
        #expect(clock.now == .milliseconds(1_400))
        #expect(clock.stops == 0)
        clock.look(at: .seconds(140))
        #expect(clock.now == .milliseconds(1_400) + ActiveClock.longestWait)
        #expect(clock.stops == 1)
        clock.look(at: .seconds(200), isIdle: true)
        #expect(clock.now == .milliseconds(61_400) + ActiveClock.longestWait)
        #expect(clock.stops == 1)
    }

    @Test("L04 15 seconds without a byte fail, before the head and within the body", arguments: [true, false])
    func silence(beforeHead: Bool) async throws {
        let (gate, isThere) = (Gate(), Gate())
        let origin = try ScriptedOrigin { _ in
            let head: [ScriptedOrigin.Step] = [.head(200, ["Content-Length": "2000"]), .send(Fixture.picture(1_000))]
            return (beforeHead ? [] : head) + [.wait(gate)]
        }
        let (downloader, request) = (downloader(), try FetchRequest(url: origin.url + "/a.png"))
        let task = Task {
            await failure { () async throws(EideticError) in
                try await downloader.fetch(request) { if $0.received == 1_000 { isThere.open() } }
            }
        }
        if beforeHead { await origin.waitForRequests(1) } else { await isThere.wait() }
        try await pass(14, downloader)
        #expect(downloader.counts.running == 1)
        try await pass(2, downloader)
        let error = await task.value
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains(beforeHead ? "before the answer" : "middle of the body") == true)
        #expect(error?.message.contains("no byte for 15.0 s") == true)
    }

    @Test("L04 15 seconds of silence count, not 15 seconds in all")
    func trickle() async throws {
        let (gates, arrivals) = ((0..<4).map { _ in Gate() }, (0..<4).map { _ in Gate() })
        let origin = try ScriptedOrigin { _ in
            [.head(200, ["Content-Length": "40"])]
                + gates.enumerated().flatMap { index, gate in
                    [.wait(gate), .send(Array(Fixture.picture(40)[10 * index..<10 * index + 10]))]
                }
        }
        let (downloader, request) = (downloader(), try FetchRequest(url: origin.url))
        let task = Task {
            try await downloader.fetch(request) { progress in
                if progress.received > 0 { arrivals[progress.received / 10 - 1].open() }
            }
        }
        await origin.waitForRequests(1)
        for (gate, arrival) in zip(gates, arrivals) {
            try await pass(10, downloader)
            gate.open()
            await arrival.wait()
        }
        #expect(try await task.value.bytes == Fixture.picture(40))
    }

    @Test("L04 what comes too slowly ends at its total time")
    func total() async throws {
        let (gate, isThere) = (Gate(), Gate())
        let origin = try ScriptedOrigin { _ in [.head(200), .send(Fixture.picture(8)), .wait(gate)] }
        var request = try FetchRequest(url: origin.url)
        request.totalTimeout = .seconds(5)
        let downloader = downloader()
        let task = Task { [request] in
            await failure { () async throws(EideticError) in
                try await downloader.fetch(request) { if $0.received > 0 { isThere.open() } }
            }
        }
        await isThere.wait()
        try await pass(6, downloader)
        let error = await task.value
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("not complete after 5.0 s") == true)
    }

    @Test("L04 time in which a download is suspended does not count for its total time")
    func totalWithoutSuspension() async throws {
        let (gate, isThere) = (Gate(), Gate())
        let origin = try ScriptedOrigin { _ in
            [.head(200, ["Content-Length": "1000"]), .send(Fixture.picture(8)), .wait(gate), .send(Fixture.rest(8))]
        }
        var request = try FetchRequest(url: origin.url)
        request.totalTimeout = .seconds(5)
        let downloader = downloader()
        let task = Task { [request] in
            try await downloader.fetch(request, priority: .low) { if $0.received > 0 { isThere.open() } }.bytes
        }
        await isThere.wait()
        for _ in 0..<2 {
            try await pass(2, downloader)
            downloader.suspend(.low)
            try await pass(10, downloader)
            downloader.resume()
        }
        gate.open()
        #expect(try await task.value == Fixture.picture())
    }

    /// Ten downloads that have got half of their bytes; the rest comes when the gate is opened.
    private func tenHalves(
        _ downloader: Downloader,
        _ gate: Gate,
        timeout: Duration = .seconds(15)
    ) async throws -> (origin: ScriptedOrigin, tasks: [Task<FetchResponse, any Error>]) {
        // Made once: ten threads that each make their own take longer than the time-out under a sanitizer.
        let (begin, rest) = (Fixture.picture(50_000), Fixture.rest(50_000, of: 100_000))
        let origin = try ScriptedOrigin { _ in
            [.head(200, ["Content-Length": "100000"]), .send(begin), .wait(gate), .send(rest)]
        }
        let halves = (0..<10).map { _ in Gate() }
        let tasks = try halves.enumerated().map { number, half in
            var request = try FetchRequest(url: "\(origin.url)/\(number)")
            request.timeout = timeout
            return Task { [request] in
                // Also where it fails, so that the test says so instead of waiting.
                defer { half.open() }
                return try await downloader.fetch(request) { if $0.received >= 50_000 { half.open() } }
            }
        }
        for half in halves { await half.wait() }
        return (origin, tasks)
    }

    @Test("L24 half a minute in which the process did not run ends none of ten downloads")
    func stopOnTheClock() async throws {
        let (downloader, gate) = (downloader(), Gate())
        let (origin, tasks) = try await tenHalves(downloader, gate)
        time.advance(by: .seconds(30))
        try await look(downloader)
        try await pass(10, downloader)
        gate.open()
        for task in tasks {
            let response = try await task.value
            #expect(response.bytes == Fixture.picture(100_000))
            #expect(response.metrics.attempts == 1)
        }
        #expect(origin.requests.count == 10)
    }

    @Test("L24 a connection that is lost while the process does not run is made anew, without being asked to try again")
    func lostOnTheClock() async throws {
        let (downloader, gate, isThere, count) = (downloader(), Gate(), Gate(), Counter())
        let (begin, picture) = (Fixture.picture(50_000), Fixture.picture(100_000))
        let origin = try ScriptedOrigin { _ in
            guard count.next() == 0 else { return [.answer(200, [:], picture)] }
            return [.head(200, ["Content-Length": "100000"]), .send(begin), .wait(gate), .reset]
        }
        let request = try FetchRequest(url: origin.url)
        let task = Task {
            defer { isThere.open() }
            return try await downloader.fetch(request) { if $0.received == 50_000 { isThere.open() } }
        }
        await isThere.wait()
        time.advance(by: .seconds(30))
        try await look(downloader)
        gate.open()
        let response = try await task.value
        #expect(response.bytes == picture)
        #expect(response.metrics.attempts == 2)
    }

    @Test("L24 a process that is stopped for longer than the time-out in the middle of ten downloads loses none")
    func stopped() async throws {
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = 10
        let (downloader, gate) = (Downloader(configuration), Gate())
        let (origin, tasks) = try await tenHalves(downloader, gate, timeout: stopTimeout)
        #expect(try await stopThisProcess())
        gate.open()
        for task in tasks { #expect(try await task.value.bytes == Fixture.picture(100_000)) }
        #expect(origin.requests.count >= 10)
    }

    @Test(
        "L24 a server that goes on while this process is stopped in the middle of ten downloads loses none",
        .needsNginx
    )
    func stoppedAlone() async throws {
        let server = try await Nginx(.init(server: "limit_rate_after 50k; limit_rate 200k;"))
        let picture = Fixture.picture(400_000)
        let url = try server.put(picture, at: "a.png")
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = 10
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
        #expect(downloader.counts.running == 10)
        #expect(try await stopThisProcess())
        for task in tasks { #expect(try await task.value == picture) }
    }

    /// Shorter than the stop.
    private var stopTimeout: Duration { Torture.isFull ? .seconds(15) : .seconds(1) }

    /// Stops this process, all its threads, for half a minute; for two seconds at the short count.
    private func stopThisProcess() async throws -> Bool {
        let script = "kill -STOP \(getpid()); sleep \(Torture.isFull ? 30 : 2); kill -CONT \(getpid())"
        return try await Subprocess.run("sh", ["-c", script]).status == .exited(0)
    }
}
