import EideticCore
import EideticFetch
import EideticTestSupport
import Glibc
import Testing

@Suite("A storm of faults", .timeLimit(.minutes(15)))
struct FaultStormTests {
    private static let body = Fixture.image(length: 200_000)

    /// What one connection does to its client, by a number that nobody foresees.
    private static func fault(number: Int, request: ScriptedOrigin.Request) -> [ScriptedOrigin.Step] {
        let body = Self.body
        let head: ScriptedOrigin.Step = .head(200, headers: ["ETag": "\"v1\"", "Content-Length": "200000"])
        let half: ScriptedOrigin.Step = .send(Array(body[..<100_000]))
        switch number {
        case 0: return [.close]
        case 1: return [.reset]
        case 2: return [head, half, .close]
        case 3: return [head, half, .reset]
        case 4: return [.response(503, headers: ["Retry-After": "0"])]
        case 5: return [.response(404)]
        case 6: return [.response(302, headers: ["Location": "/elsewhere\(number)"])]
        case 7: return [.response(200, headers: ["Content-Type": "text/html"], body: Fixture.webPage)]
        case 8:
            return [
                .head(200, headers: ["Transfer-Encoding": "chunked"]), .chunk(Fixture.image(length: 50_000)), .close,
            ]
        case 9: return [.response(206, headers: ["Content-Range": "bytes 7-8/9"], body: [1, 2])]
        case 10: return [.send(Array("nonsense\r\n\r\n".utf8)), .close]
        case 11: return [.head(200), .sendRepeatedly(Fixture.image(length: 65_536), times: 40), .close]
        default: return [.response(200, headers: ["ETag": "\"v1\""], body: body)]
        }
    }

    @Test("L07 minutes of random faults: no memory, descriptor, thread or partial file is left behind")
    func storm() async throws {
        let start = try ResourceUsage()
        // A first part fills what is kept on purpose: workers, the allocator's own, what the libraries open once.
        try await storm(duration: Torture.isFull ? .seconds(60) : .milliseconds(400))
        let before = try await ResourceUsage.settled(like: start)
        try await storm(duration: Torture.isFull ? .seconds(540) : .milliseconds(800))
        let after = try await ResourceUsage.settled(like: before)
        if Torture.isFull { print("storm of faults: \(before) became \(after)") }
        #expect(after.descriptors <= before.descriptors, "\(before) became \(after)")
        #expect(after.threads <= before.threads, "\(before) became \(after)")
        // A sanitizer keeps what was given back.
        if !Sanitizer.isActive { #expect(after.memory <= before.memory + 48 << 20, "\(before) became \(after)") }
    }

    /// A downloader and a server that meet nothing but faults, both given up at the end.
    private func storm(duration: Duration) async throws {
        let origin = try ScriptedOrigin { request in Self.fault(number: Int.random(in: 0..<18), request: request) }
        let directory = try TemporaryDirectory(named: "storm")
        var configuration = Downloader.Configuration()
        configuration.alwaysRetries = true
        configuration.retryClock = ImmediateRetryClock()
        configuration.failurePolicy.capacity = 100
        configuration.partialDirectory = directory.path(of: "partial")
        configuration.partialSizeLimit = .mebibytes(1)
        let downloader = Downloader(configuration)
        let clock = ContinuousClock()
        let end = clock.now + duration
        while clock.now < end { try await runRound(origin: origin, downloader: downloader) }
        // What is asked now is answered after the engine has taken off what was left in the middle.
        let quiet = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        _ = try await downloader.fetch(url: quiet.url)
        #expect(downloader.counts == (waiting: 0, running: 0))
        #expect(downloader.jobCount == 0)
        #expect(downloader.failures.entries.count <= 100)
        let kept = (try? FileSystem().entryNames(in: directory.path(of: "partial"))) ?? []
        #expect(kept.count <= 10, "a mebibyte holds ten halves")
    }

    /// Some dozen downloads at once, of which some are left in the middle.
    private func runRound(origin: ScriptedOrigin, downloader: Downloader) async throws {
        origin.removeRequests()
        downloader.resetAfterNetworkChange()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<48 {
                guard var request = try? FetchRequest(url: "\(origin.url)/\(number % 24)") else { continue }
                request.byteLimit = .mebibytes(1)
                group.addTask { [request] in _ = try? await downloader.fetch(request) }
            }
            if Bool.random() {
                await origin.waitForRequests(count: 3)
                group.cancelAll()
            }
        }
    }
}

/// Lets no time pass.
private struct ImmediateRetryClock: RetryClock {
    func wait(for delay: Duration) async {}
}

/// What the process has open and runs, and how much memory it has in use.
struct ResourceUsage: Sendable {
    let descriptors: Int
    let threads: Int
    let memory: Int

    init() throws {
        descriptors = try FileSystem().entryNames(in: "/proc/self/fd").count
        threads = try FileSystem().entryNames(in: "/proc/self/task").count { !Self.isPoolThread($0) }
        let fields = String(decoding: try FileSystem().contents(of: "/proc/self/statm"), as: UTF8.self).split(
            separator: " "
        )
        memory = (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Whether a thread is one of the language's own pool, which has one more where the machine is busy for long.
    private static func isPoolThread(_ thread: String) -> Bool {
        let name = try? FileSystem().contents(of: "/proc/self/task/\(thread)/comm")
        return name.map { String(decoding: $0, as: UTF8.self).contains("qos") } ?? true
    }

    /// The usage once engines and servers that were given up have ended, or as it is after a second.
    static func settled(like before: ResourceUsage) async throws -> ResourceUsage {
        var usage = try ResourceUsage()
        for _ in 0..<500 where usage.descriptors > before.descriptors || usage.threads > before.threads {
            _ = try await Subprocess.run("true")
            usage = try ResourceUsage()
        }
        return usage
    }
}
