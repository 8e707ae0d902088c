@testable import Eidetic
import EideticTestSupport
import Testing

@Suite("Waiting times", .timeLimit(.minutes(1)))
struct WaitingTimeTests {
    @Test(
        "L26 the time in the queue of downloads is waiting time of the network step and stage",
        arguments: [ImageOptions(), .progressive]
    )
    func downloads(options: ImageOptions) async throws {
        let gate = Gate(), png = try TestImage.png(width: 4, height: 3)
        let server = try ScriptedOrigin { _ in [.wait(gate), .response(200, headers: [:], body: png)] }
        var downloads = ImagePipeline.Configuration().downloads
        downloads.maximumConcurrent = 1
        let downloader = Downloader(downloads), pipeline = ImagePipeline(.init(downloader: downloader))
        let first = Task { try await pipeline.image(for: ImageRequest(server.url + "/1")) }
        await server.waitForRequests(count: 1)
        let second = Task { try await pipeline.response(for: ImageRequest(server.url + "/2", options: options)) }
        try await eventually("one download waits, and one runs") { downloader.counts == (waiting: 1, running: 1) }
        gate.open()
        _ = try await first.value
        let steps = try await second.value.trace.steps, network = try #require(steps.first { $0.stage == .network })
        #expect(network.waiting > .zero && network.waiting < network.duration)
        let stage = try #require(pipeline.statistics.stages[.network])
        #expect(stage.waiting >= network.waiting)
        #expect(stage.working == stage.total - stage.waiting && stage.working > .zero)
    }

    @Test("L26 the time until a decoder is free is waiting time of the decode, and the trace prints it")
    func decodes() async throws {
        let gate = Gate(), started = Gate(), png = try TestImage.png(width: 4, height: 3)
        var configuration = ImagePipeline.Configuration()
        configuration.maximumConcurrentDecodes = 1
        let pipeline = ImagePipeline(configuration)
        let rendering = ImageRequest.Rendering(transform: BlockingTransform(started: started, proceed: gate))
        let held = Task { try await pipeline.image(for: ImageRequest(.bytes(png), rendering: rendering)) }
        await started.wait()
        let waiting = Task { try await pipeline.response(for: ImageRequest(.bytes(png))) }
        try await eventually("number of decodes that wait", is: 1) {
            pipeline.imageLoader.stage.pools.common.waitingJobCount
        }
        gate.open()
        _ = try await held.value
        let response = try await waiting.value, decode = try #require(response.trace.steps.last)
        #expect(decode.stage == .decode)
        #expect(decode.waiting > .zero && decode.waiting < decode.duration)
        let text = response.trace.description
        // A busy machine may print longer times, and a decode that hardly waited says nothing of it.
        let isMentioned = text.contains(/decode: \d+\.\d ms \(\d+\.\d ms waiting\), png 4x3 to 4x3/)
        #expect(isMentioned == (decode.waiting >= .microseconds(50)), "\(text)")
    }

    @Test("L26 a hit in memory does not wait")
    func memory() async throws {
        let pipeline = ImagePipeline(.init()), png = try TestImage.png(width: 4, height: 3)
        for _ in 0..<2 { _ = try await pipeline.image(for: ImageRequest(.bytes(png))) }
        #expect(pipeline.statistics.stages[.memory]?.count == 2)
        #expect(pipeline.statistics.stages[.memory]?.waiting == .zero)
    }
}
