import Eidetic
import EideticTestSupport
import Testing

/// Images whose files are damaged or end too early, of which browsers show a part.
@Suite("Partial images", .timeLimit(.minutes(2)))
struct PartialImageTests {
    private func image(_ request: ImageRequest, in pipeline: ImagePipeline) async throws(EideticError) -> Image {
        try await pipeline.image(for: request)
    }

    private func failure(of request: ImageRequest, in pipeline: ImagePipeline) async -> EideticError.Code? {
        do throws(EideticError) {
            _ = try await pipeline.image(for: request)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("F02 a part of a truncated image is shown where that is allowed, and says so", arguments: [true, false])
    func part(isInSandbox: Bool) async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.decodePolicy = isInSandbox ? .sandboxed : .inProcess
        let pipeline = ImagePipeline(configuration), whole = try TestImage.png(width: 60, height: 80)
        let server = try ScriptedOrigin { _ in
            [.response(200, headers: [:], body: Array(whole.prefix(whole.count * 6 / 10)))]
        }
        let request = ImageRequest(server.url + "/a"), partial = request.with(options: [.allowsPartial, .retryFailed])
        #expect(await failure(of: request, in: pipeline) == .truncated)
        let image = try await image(partial, in: pipeline)
        #expect(image.isPartial && image.size == PixelSize(width: 60, height: 80))
        #expect(image.pixels[0, 0].w == 255 && image.pixels[0, 79].w == 0)
        // It is no image for a request that wants all of it, and is not stored on disk.
        #expect(await failure(of: request.with(options: .retryFailed), in: pipeline) == .truncated)
        let offline = partial.with(options: .allowsPartial, cachePolicy: .cachedOnly)
        #expect(try await self.image(offline, in: pipeline).isPartial)
        try await pipeline.cache.removeAll(from: .memory)
        #expect(await failure(of: offline, in: pipeline) == .cacheMiss)
    }

    @Test("F02 a whole image is not partial, whatever is allowed") func whole() async throws {
        let bytes = try TestImage.png(width: 60, height: 80)
        let server = try ScriptedOrigin { _ in [.response(200, headers: [:], body: bytes)] }
        let request = ImageRequest(server.url + "/a").with(options: .allowsPartial)
        #expect(try await image(request, in: ImagePipeline(.init())).isPartial == false)
    }

    @Test("F03 an animation of more frames than are played is shown as a still image") func longAnimation() async throws
    {
        var configuration = ImagePipeline.Configuration()
        configuration.decodeLimits.frames = 1
        let server = try ScriptedOrigin { _ in [.response(200, headers: [:], body: TestImage.animatedGIF)] }
        let request = ImageRequest(server.url + "/a"), pipeline = ImagePipeline(configuration)
        let image = try await image(request, in: pipeline)
        #expect(!image.isAnimated && !image.isPartial)
        #expect(await failure(of: request.with(options: .preloadAllFrames), in: pipeline) == .limitExceeded)
        #expect(await failure(of: request.with(options: .firstFrameOnly), in: pipeline) == nil)
    }
}
