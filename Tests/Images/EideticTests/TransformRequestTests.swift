import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("Transforms of requests", .timeLimit(.minutes(1)))
struct TransformRequestTests {
    /// A transform that needs few pixels, and records the sizes that it is applied to.
    private final class SizeRecorder: SizedTransform {
        let key = "recorder"
        let decodeTarget: ImageTarget?
        let sizes = Guarded<[PixelSize]>([])

        init(_ target: ImageTarget) { decodeTarget = target }

        func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            sizes.withLock { $0.append(pixels.size) }
            return pixels
        }
    }

    private func load(
        _ bytes: [UInt8],
        _ transform: any ImageTransform,
        size: PixelSize? = nil,
        options: ImageOptions = []
    ) async throws -> Image {
        let request = ImageRequest(
            .bytes(bytes),
            rendering: .init(size: size, transform: transform),
            options: options
        )
        return try await ImagePipeline(.init()).image(for: request)
    }

    @Test("F06 F04 an image is decoded to the size that its transform can use, by itself or first in a chain")
    func fused() async throws {
        let png = try TestImage.png(width: 80, height: 60), square = PixelSize(width: 30, height: 30)
        let recorder = SizeRecorder(ImageTarget(size: square, contentMode: .fillCropped()))
        _ = try await load(png, recorder)
        _ = try await load(png, TransformChain([recorder, .circle()]))
        _ = try await load(png, TransformChain([.circle(), recorder]))
        _ = try await load(png, recorder, size: PixelSize(width: 40, height: 40))
        let sizes = [square, square, PixelSize(width: 60, height: 60), PixelSize(width: 40, height: 30)]
        #expect(recorder.sizes.withLock { $0 } == sizes)
    }

    @Test("F06 the result of a resize is the same whether the decoder scales or the transform")
    func fusedResult() async throws {
        let png = try TestImage.png(width: 80, height: 60)
        let resize = ImageTransforms.Resize(PixelSize(width: 25, height: 30), contentMode: .fillCropped())
        let fused = try await load(png, resize), whole = try resize.apply(to: TestImage.pixels(width: 80, height: 60))
        #expect(fused.size == PixelSize(width: 25, height: 30))
        #expect(fused.sourceSize == PixelSize(width: 80, height: 60))
        #expect(fused.pixels.withUnsafeBytes { Array($0) } == whole.withUnsafeBytes { Array($0) })
    }

    @Test("L13 F06 an animation keeps its size where its frames are not transformed")
    func animations() async throws {
        let recorder = SizeRecorder(ImageTarget(size: PixelSize(width: 1, height: 1)))
        let gif = TestImage.animatedGIF
        #expect(try await load(gif, recorder, options: .preloadAllFrames).frames.count == 2)
        #expect(recorder.sizes.withLock { $0 }.isEmpty)
        _ = try await load(gif, recorder, options: [.preloadAllFrames, .transformAnimatedImage])
        #expect(recorder.sizes.withLock { $0.count } == 2)
    }

    @Test("F06 L13 the result is cached under its own key, also in an image cache, and each has its own pixels")
    func cached() async throws {
        let fixture = try ImageCacheFixture(), pixels = try TestImage.pixels(width: 80, height: 60)
        let image = Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
        let crop = ImageTransforms.Crop(PixelRect(x: 5, y: 6, width: 7, height: 8))
        let key = ImageCache.Key("a", rendering: .init(transform: crop))
        let cropped = image.replacingFrames([Image.Frame(pixels: try crop.apply(to: pixels))])
        try await fixture.cache.insert(image, for: "a")
        try await fixture.cache.insert(cropped, for: key)
        for cache in [fixture.cache, fixture.nextRun()] {
            #expect(try await cache.image(for: key)?.size == PixelSize(width: 7, height: 8))
            #expect(try await cache.image(for: "a")?.size == PixelSize(width: 80, height: 60))
        }
    }

    @Test("F06 a request takes the transforms by their short names")
    func names() async throws {
        let png = try TestImage.png(width: 80, height: 60)
        var request = ImageRequest(.bytes(png), rendering: .init(transform: .circle()))
        #expect(try await ImagePipeline(.init()).image(for: request).size == PixelSize(width: 60, height: 60))
        request.rendering.transform = TransformChain([
            .resize(PixelSize(width: 40, height: 40)), .rotation(degrees: 90),
        ])
        #expect(try await ImagePipeline(.init()).image(for: request).size == PixelSize(width: 30, height: 40))
    }
}
