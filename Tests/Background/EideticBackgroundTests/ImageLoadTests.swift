import EideticCore
import EideticStore
import EideticTestSupport
import Glibc
import Testing

/// A real application that loads an image from a server which responds when the test lets it.
@Suite("Loads in an application that enters the background", .timeLimit(.minutes(10)))
struct ImageLoadTests {
    private let directory: TemporaryDirectory
    private let requestReached = Gate()
    private let responseGate = Gate()
    private let origin: ScriptedOrigin

    /// A GIF of one pixel.
    private static let imageData: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 0]
        + [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b]

    init() throws {
        directory = try TemporaryDirectory(named: "image")
        let head = "HTTP/1.1 200 OK\r\nContent-Type: image/gif\r\nContent-Length: \(Self.imageData.count)\r\n\r\n"
        origin = try ScriptedOrigin { [requestReached, responseGate] _ in
            [.open(requestReached), .wait(responseGate), .send(Array(head.utf8) + Self.imageData), .close]
        }
    }

    private func startProbe(_ arguments: [String]) throws -> ProbeProcess {
        let options = ["--load", "\(origin.url)/a.gif", "--cache", directory.path(of: "cache"), "--no-writes"]
        return try ProbeProcess(options + arguments)
    }

    /// Ends a probe while its image is loaded, which then arrives.
    private func stopDuringLoad(_ probe: ProbeProcess) async -> ProbeProcess.End {
        await probe.expectOutput("didBecomeActive")
        await requestReached.wait()
        probe.process.kill(SIGTERM)
        await probe.expectOutput("didEnterBackground")
        responseGate.open()
        return await probe.finish()
    }

    private var storedCount: Int {
        get throws { try DiskCache(.init(directory: directory.path(of: "cache"))).blocking.usage.entryCount }
    }

    @Test("L06 a load with continueInBackground finishes and is stored after a request to terminate")
    func continues() async throws {
        let end = await stopDuringLoad(try startProbe(["--continue-in-background"]))
        #expect(end.status == .exited(0), "\(end.errors)")
        // Only the load itself is certain to end in time; its caller may not be able to print the result.
        #expect(end.lines.contains("willTerminate background"), "\(end.lines)")
        #expect(!end.lines.contains { $0.hasPrefix("failed") }, "\(end.lines)")
        #expect(try storedCount == 1)
    }

    /// Ends a probe that has loaded the image, and expects that its memory was empty in the background.
    private func expectEmptied(_ probe: ProbeProcess) async throws -> [String] {
        await probe.expectOutput("in memory true")
        await probe.expectOutput("observes states")
        await probe.expectOutput("state active")
        probe.process.kill(SIGTERM)
        let end = await probe.finish()
        #expect(end.status == .exited(0), "\(end.errors)")
        #expect(end.lines.contains("memory is empty in the background"), "\(end.lines)")
        return end.lines
    }

    /// Starts a probe whose image is loaded by the shared pipeline, created before the start and given no environment.
    private func startSharedProbe(_ arguments: [String] = []) throws -> ProbeProcess {
        let options = ["--load", "\(origin.url)/a.gif", "--shared-pipeline"]
        return try ProbeProcess(options + arguments, environment: ["XDG_CACHE_HOME": directory.path])
    }

    @Test("B17 L26 the shared pipeline is the application's: a load with continueInBackground is stored during a stop")
    func sharedPipelineContinues() async throws {
        let end = await stopDuringLoad(try startSharedProbe(["--continue-in-background"]))
        #expect(end.status == .exited(0), "\(end.errors)")
        let cache = try DiskCache(.init(directory: directory.path(of: "eidetic/default")))
        #expect(cache.blocking.usage.entryCount == 1)
    }

    @Test("C21 L25 the shared pipeline and display gate are the application's: empty and held in the background")
    func sharedPipelineIsEmptied() async throws {
        responseGate.open()
        let lines = try await expectEmptied(try startSharedProbe([]))
        #expect(lines.contains("drawing is held in the background"), "\(lines)")
    }

    @Test("L06 a load without continueInBackground does not delay termination")
    func doesNotContinue() async throws {
        let probe = try startProbe([])
        await probe.expectOutput("didBecomeActive")
        await requestReached.wait()
        probe.process.kill(SIGTERM)
        let end = await probe.finish()
        #expect(end.status == .exited(0), "\(end.errors)")
        #expect(!end.lines.contains { $0.hasPrefix("loaded") })
        responseGate.open()
    }

    @Test(
        "L06 a load with continueInBackground is cancelled when background time expires, and the process exits with status 0"
    )
    func expires() async throws {
        let probe = try startProbe(["--continue-in-background", "--grace", "300"])
        await probe.expectOutput("didBecomeActive")
        await requestReached.wait()
        probe.process.kill(SIGTERM)
        let end = await probe.finish()
        #expect(end.status == .exited(0), "\(end.errors)")
        #expect(end.lines.contains("not loaded: cancelled"), "\(end.lines)")
        #expect(try storedCount == 0)
        responseGate.open()
    }

    @Test("C21 entering the background empties the memory cache")
    func emptiesMemory() async throws {
        responseGate.open()
        _ = try await expectEmptied(try startProbe([]))
    }

    @Test(
        "B17 the process exits with status 0 during loads over TLS",
        .enabled(if: Nginx.isInstalled, "skipped: nginx is not installed")
    )
    func endsDuringTransfers() async throws {
        // Each connection serves one image, so that connections are opened all the time.
        let server = try await Nginx(.init(server: "keepalive_requests 1;", usesTLS: true))
        try server.addFile(Self.imageData, at: "a.gif")
        let url = try #require(server.secureURL) + "/a.gif"
        for round in 0..<Torture.repetitions(5, full: 300) {
            let probe = try ProbeProcess(["--load-storm", url])
            await probe.expectOutput("storm \(round % 40)\n")
            probe.process.kill(SIGTERM)
            let end = await probe.finish()
            #expect(end.status == .exited(0), "round \(round): \(end.errors)")
            #expect(!end.lines.contains { $0.hasPrefix("storm failed") }, "\(end.lines.suffix(20))")
        }
    }
}
