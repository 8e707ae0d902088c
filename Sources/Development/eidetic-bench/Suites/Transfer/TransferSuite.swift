import EideticCore
import EideticTestSupport
import EideticTransfer
import Glibc

extension Suite {
    /// The transfer process: many small files against `curl -Z`, restarts, and what 10,000 queued transfers cost.
    static let transfer = Suite(
        "transfer",
        summary: "the transfer process: small files against curl -Z to files, restarts after kills, 10,000 queued",
        arguments: [
            "files=1000  the number of small files", "rounds=7  the number of samples", "kills=10  the number of kills",
            "queued=10000  the number of queued transfers",
        ]
    ) { bench in
        let rounds = try bench.integer(named: "rounds", default: 7, quick: 1)
        try await TransferRun.measureSmallFiles(
            with: bench,
            count: try bench.integer(named: "files", default: 1_000, quick: 50),
            rounds: rounds
        )
        try await TransferRun.measureKills(with: bench, kills: try bench.integer(named: "kills", default: 10, quick: 2))
        let queued = try bench.integer(named: "queued", default: 10_000, quick: 100)
        try await TransferRun.measureQueue(with: bench, count: queued)
        try await TransferRun.measureConnections(with: bench)
        try await TransferRun.measureDelivery(with: bench, rounds: rounds)
    }
}

private enum TransferRun {
    /// Downloads files of 1 to 20 KB, to the time of the last event, which is delivered when the files are safe.
    static func measureSmallFiles(with bench: Bench, count: Int, rounds: Int) async throws {
        let server = try await Nginx(.init(server: "access_log off;"))
        for index in 0..<count {
            try server.addFile([UInt8](repeating: UInt8(index & 255), count: 1_000 + 19 * index), at: "\(index).bin")
        }
        let urls = (0..<count).map { "\(server.url)/\($0).bin" }
        let process = try TransferProcess()
        let client = try await process.connect()
        let events = EventCount()
        let observation = try await client.observe("bench") { events.record($0) }
        defer { withExtendedLifetime(observation) {} }
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for round in 0...rounds {
            var numbers: [UInt64] = []
            let own = try await Bench.seconds {
                _ = try await client.add(urls.map { TransferRequest(download: $0) }, to: "bench")
                numbers = await events.wait(for: count)
            }
            try await client.acknowledge(numbers)
            let curl = try await Bench.seconds { try await runCurl(urls) }
            // The first round fills the caches.
            if round > 0 {
                ours.append(own * 1e3)
                theirs.append(curl * 1e3)
            }
        }
        bench.report(
            BenchmarkCase("\(count) files of 1 to 20 KB, wall", unit: .milliseconds, goal: .ratio(1.5)),
            samples: Samples(values: ours),
            baseline: ("curl -Z", Samples(values: theirs))
        )
    }

    private static func runCurl(_ urls: [String]) async throws {
        let output = try TemporaryDirectory(named: "curl")
        let lines = urls.enumerated().map { "url = \"\($1)\"\noutput = \"\(output.path(of: "\($0)"))\"\n" }
        let result = try await Subprocess.run(
            "curl",
            arguments: ["-Z", "--no-progress-meter", "-K", "-"],
            input: Array(lines.joined().utf8)
        )
        guard result.status == .exited(0) else { throw UsageError(message: "curl failed: \(result.errorText)") }
    }

    /// Kills the process in the middle of a download of 64 MB, and counts what it fetches again.
    static func measureKills(with bench: Bench, kills: Int) async throws {
        let body = [UInt8](repeating: 7, count: 64 << 20)
        let log = Guarded((starts: [Int](), gate: Gate()))
        let hold = Gate()
        let origin = try ScriptedOrigin { request in
            let start = request.headers["range"].flatMap { Int($0.dropFirst(6).prefix { $0 != "-" }) } ?? 0
            let gate = log.withLock { log in
                log.starts.append(start)
                return log.gate
            }
            gate.open()
            let end = min(start + (4 << 20), body.count)
            let range = start > 0 ? "Content-Range: bytes \(start)-\(body.count - 1)/\(body.count)\r\n" : ""
            let status = start > 0 ? "206 Partial Content" : "200 OK"
            let head = "HTTP/1.1 \(status)\r\nETag: \"a\"\r\n\(range)Content-Length: \(body.count - start)\r\n\r\n"
            return [.send(Array(head.utf8) + body[start..<end]), .open(log.withLock { $0.gate }), .wait(hold)]
        }
        let process = try TransferProcess()
        let client = try await process.connect()
        _ = try await client.add([TransferRequest(download: origin.url + "/a")], to: "bench")
        var (again, firstBytes): ([Double], [Double]) = ([], [])
        for kill in 1...kills {
            await origin.waitForRequests(count: kill)
            // The server has sent 4 MiB; the process is killed while it writes them.
            usleep(20_000)
            process.kill()
            let sent = (log.withLock { $0.starts.last } ?? 0) + (4 << 20)
            let start = ContinuousClock.now
            try process.start()
            await origin.waitForRequests(count: kill + 1)
            firstBytes.append((ContinuousClock.now - start).inMilliseconds)
            again.append(Double(max(0, min(sent, body.count) - (log.withLock { $0.starts.last } ?? 0))))
        }
        hold.open()
        bench.report(
            BenchmarkCase("first request after a restart", unit: .milliseconds, goal: .value(50)),
            samples: Samples(values: firstBytes)
        )
        bench.report(BenchmarkCase("bytes fetched again after a kill", unit: .bytes), samples: Samples(values: again))
    }

    /// Measures the memory and the processor time with queued transfers to a server that does not respond.
    static func measureQueue(with bench: Bench, count: Int) async throws {
        let hold = Gate()
        let origin = try ScriptedOrigin { _ in [.wait(hold)] }
        let process = try TransferProcess()
        let client = try await process.connect()
        let empty = try process.residentMemory()
        let requests = (0..<count).map { TransferRequest(download: "\(origin.url)/a/path/of/usual/length/\($0).jpg") }
        for start in stride(from: 0, to: count, by: 500) {
            _ = try await client.add(Array(requests[start..<min(start + 500, count)]), to: "bench")
        }
        bench.report(
            BenchmarkCase("memory just after \(count) were added", unit: .bytes),
            samples: Samples(values: [try process.residentMemory()]),
            baseline: ("without transfers", Samples(values: [empty]))
        )
        let before = try process.processorTime()
        try await Task.sleep(for: .seconds(10))
        bench.report(
            BenchmarkCase("memory with \(count) queued", unit: .bytes, goal: .value(20 * 1_048_576)),
            samples: Samples(values: [try process.residentMemory()]),
            baseline: ("without transfers", Samples(values: [empty]))
        )
        bench.report(
            BenchmarkCase("processor time with \(count) queued", unit: .fraction, goal: .value(0.005)),
            samples: Samples(values: [(try process.processorTime() - before) / 10])
        )
        hold.open()
    }

    /// Measures the processor time with more connections than the process accepts.
    static func measureConnections(with bench: Bench) async throws {
        let process = try TransferProcess()
        let client = try await process.connect()
        var others: [PacketSocket] = []
        while others.count < 300 {
            // With each reply the process has accepted more; those beyond its limit wait.
            guard let other = try? PacketSocket.connect(to: process.directory.path(of: "socket")) else {
                _ = try await client.transfers(in: nil)
                if others.count > 260 { break }
                continue
            }
            others.append(other)
        }
        let before = try process.processorTime()
        try await Task.sleep(for: .seconds(5))
        bench.report(
            BenchmarkCase("processor time with more connections than the limit", unit: .fraction, goal: .value(0.05)),
            samples: Samples(values: [(try process.processorTime() - before) / 5])
        )
        withExtendedLifetime(others) {}
    }

    /// A transfer process that does not answer.
    private struct SilentProvider: TransferServiceProvider {
        let gate = Gate()

        func connect() async throws(EideticError) -> TransferClient {
            await gate.wait()
            throw EideticError(.cancelled, message: "the benchmark has ended")
        }
    }

    /// Measures the delivery of an event to a sequence with few and with many events behind it.
    static func measureDelivery(with bench: Bench, rounds: Int) async throws {
        var (few, many): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            few.append(try await secondsPerEvent(count: 500) * 1e6)
            many.append(try await secondsPerEvent(count: 8_000) * 1e6)
        }
        bench.report(
            BenchmarkCase("delivery of an event with 8,000 behind it", unit: .microseconds, goal: .ratio(2)),
            samples: Samples(values: many),
            baseline: ("with 500 behind it", Samples(values: few))
        )
    }

    private static func secondsPerEvent(count: Int) async throws -> Double {
        let provider = SilentProvider()
        let session = BackgroundURLSession(configuration: .init(identifier: "s"), delegate: nil, provider: provider)
        let tasks = try (0...count).map { try session.downloadTask(with: .init(url: "http://localhost/\($0)")) }
        let iterator = session.events.makeAsyncIterator()
        tasks[0].cancel()
        // The first event is held until all others wait.
        _ = await iterator.next()
        for task in tasks.dropFirst() { task.cancel() }
        let seconds = await Bench.seconds { for _ in 0..<count { _ = await iterator.next() } }
        session.disconnect()
        provider.gate.open()
        return seconds / Double(count)
    }
}
