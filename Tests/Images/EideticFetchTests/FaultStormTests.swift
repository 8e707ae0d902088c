import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

@Suite("Fault storm", .timeLimit(.minutes(15)))
struct FaultStormTests {
    private static let body = Fixture.image(length: 200_000)

    /// Returns the behaviour of one connection, by a random number.
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

    @Test("L07 rounds of random faults leak no memory, descriptor, thread or partial file")
    func storm() async throws {
        let start = try ResourceUsage()
        // The first part allocates what stays by design: worker threads, allocator arenas, files of the libraries.
        try await storm(rounds: Torture.repetitions(4, full: 600))
        let before = try await ResourceUsage.settled(like: start)
        try await storm(rounds: Torture.repetitions(8, full: 5_400))
        let after = try await ResourceUsage.settled(like: before)
        if Torture.isFull { print("fault storm: \(before) → \(after)") }
        #expect(after.descriptors <= before.descriptors, "\(before) → \(after)")
        #expect(after.threads <= before.threads, "\(before) → \(after)")
        // A sanitizer does not return freed memory.
        if !Sanitizer.isActive { #expect(after.memory <= before.memory + 48 << 20, "\(before) → \(after)") }
    }

    /// Runs a downloader against a server with nothing but faults, and releases both.
    private func storm(rounds: Int) async throws {
        let origin = try ScriptedOrigin { request in Self.fault(number: Int.random(in: 0..<18), request: request) }
        let directory = try TemporaryDirectory(named: "storm")
        var configuration = Downloader.Configuration()
        configuration.alwaysRetries = true
        configuration.retryClock = ImmediateRetryClock()
        configuration.failurePolicy.capacity = 100
        configuration.partialDirectory = directory.path(of: "partial")
        configuration.partialSizeLimit = .mebibytes(1)
        let downloader = Downloader(configuration)
        for _ in 0..<rounds { try await runRound(origin: origin, downloader: downloader) }
        // The engine completes this request after it has removed the cancelled exchanges.
        let quiet = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        _ = try await downloader.fetch(url: quiet.url)
        #expect(downloader.counts == (waiting: 0, running: 0))
        #expect(downloader.jobCount == 0)
        #expect(downloader.failures.entries.count <= 100)
        let kept = (try? FileSystem().entryNames(in: directory.path(of: "partial"))) ?? []
        #expect(kept.count <= 10, "a mebibyte holds ten halves")
    }

    /// Runs some dozen concurrent downloads, and cancels the remaining ones in half of all rounds.
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

/// A clock that does not wait.
private struct ImmediateRetryClock: RetryClock {
    func wait(for delay: Duration) async {}
}

/// The descriptors, threads and resident memory of the process.
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

    /// Returns `true` for a thread of Swift's own pool, which grows when the machine is busy.
    private static func isPoolThread(_ thread: String) -> Bool {
        let name = try? FileSystem().contents(of: "/proc/self/task/\(thread)/comm")
        return name.map { String(decoding: $0, as: UTF8.self).contains("qos") } ?? true
    }

    /// Returns the usage once released engines and servers have ended, or after about a second.
    static func settled(like before: ResourceUsage) async throws -> ResourceUsage {
        var usage = try ResourceUsage()
        for _ in 0..<500 where usage.descriptors > before.descriptors || usage.threads > before.threads {
            _ = try await Subprocess.run("true")
            usage = try ResourceUsage()
        }
        return usage
    }
}
