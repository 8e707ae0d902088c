import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Speeds of origins", .timeLimit(.minutes(2)))
struct SpeedTests {
    private func makeMetrics(byteCount bytes: Int, seconds: Double) -> FetchMetrics {
        var metrics = FetchMetrics()
        metrics.bodyBytes = bytes
        metrics.total = .seconds(seconds)
        return metrics
    }

    private func makeOrigin(host: String) throws -> Origin { try FetchRequest(url: "http://\(host)/").origin }

    @Test("L02 newer downloads have a higher weight, and measurements expire after five minutes")
    func fades() throws {
        var speeds = OriginSpeeds()
        let host = try makeOrigin(host: "a.example"), other = try makeOrigin(host: "b.example")
        func speed(_ seconds: Int) -> Double? { speeds.bytesPerSecond(of: host, now: .seconds(seconds)) }
        speeds.recordDownload(from: host, metrics: makeMetrics(byteCount: 100_000, seconds: 1), now: .seconds(0))
        #expect(speed(0) == 100_000)
        #expect(speeds.bytesPerSecond(of: other, now: .seconds(0)) == nil)
        speeds.recordDownload(from: host, metrics: makeMetrics(byteCount: 1_000_000, seconds: 1), now: .seconds(0))
        #expect(speed(0) == (75_000 + 1_000_000) / 1.75)
        // Two minutes later the old measurements have a weight of a quarter of three quarters.
        speeds.recordDownload(from: host, metrics: makeMetrics(byteCount: 1_000_000, seconds: 1), now: .seconds(120))
        #expect(speed(120) == (0.1875 * 1_075_000 + 1_000_000) / (0.1875 * 1.75 + 1))
        #expect(speed(419) != nil)
        // A download recorded late, by a delayed thread, counts and does not move the time of the last update back.
        speeds.recordDownload(from: host, metrics: makeMetrics(byteCount: 1_000_000, seconds: 1), now: .seconds(2))
        #expect(speed(419) != nil)
        #expect(speed(420) == nil)
    }

    @Test("L02 small bodies are ignored, and a change of the network removes all measurements")
    func evidence() throws {
        var speeds = OriginSpeeds()
        let host = try makeOrigin(host: "a.example")
        speeds.recordDownload(from: host, metrics: makeMetrics(byteCount: 16_383, seconds: 1), now: .zero)
        #expect(speeds.bytesPerSecond(of: host, now: .zero) == nil)
        speeds.recordDownload(from: host, metrics: makeMetrics(byteCount: 16_384, seconds: 1), now: .zero)
        #expect(speeds.bytesPerSecond(of: host, now: .zero) == 16_384)
        speeds.reset()
        #expect(speeds.bytesPerSecond(of: host, now: .zero) == nil)
    }

    @Test("L02 the measurements of the newest 1,024 origins are kept")
    func bounded() throws {
        var speeds = OriginSpeeds()
        for index in 0..<1_100 {
            speeds.recordDownload(
                from: try makeOrigin(host: "h\(index)"),
                metrics: makeMetrics(byteCount: 20_000, seconds: 1),
                now: .milliseconds(index)
            )
        }
        let known = try (0..<1_100).filter {
            speeds.bytesPerSecond(of: try makeOrigin(host: "h\($0)"), now: .seconds(2)) != nil
        }
        #expect(known == Array(76..<1_100))
    }

    @Test("L02 after a redirect the speed also counts for the requested origin")
    func redirected() async throws {
        let image = Fixture.image(length: 200_000)
        let far = try ScriptedOrigin { _ in [.response(200, headers: [:], body: image)] }
        let near = try ScriptedOrigin { _ in [.response(302, headers: ["Location": "\(far.url)/a"], body: [])] }
        let downloader = Downloader(), request = try FetchRequest(url: "\(near.url)/a")
        let response = try await downloader.fetch(request)
        #expect(response.bytes == image)
        let speed = try #require(downloader.speed(of: request.origin))
        #expect(speed == downloader.speed(of: try FetchRequest(url: response.effectiveURL).origin))
    }

    @Test("L22 a suspended download does not count as slow")
    @MainActor
    func held() async throws {
        let gate = Gate(), image = Fixture.image(length: 200_000)
        let origin = try ScriptedOrigin { request in
            request.path == "/held"
                ? [.wait(gate), .response(200, headers: [:], body: image)]
                : [.response(200, headers: [:], body: Fixture.image())]
        }
        let downloader = Downloader(), request = try FetchRequest(url: "\(origin.url)/held")
        let held = Task.immediate { try await downloader.fetch(request, priority: .low) }
        await origin.waitForRequests(count: 1)
        downloader.suspend(upTo: .low)
        gate.open()
        for number in 0..<5 { _ = try await downloader.fetch(url: "\(origin.url)/urgent?\(number)") }
        downloader.resume()
        #expect(try await held.value.bytes == image)
        #expect(downloader.speed(of: request.origin) == nil)
        _ = try await downloader.fetch(url: "\(origin.url)/held")
        #expect(try #require(downloader.speed(of: request.origin)) > 0)
    }
}
