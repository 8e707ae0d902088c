import Eidetic
import EideticCore
import Testing

@Suite("Content modes of requests", .timeLimit(.minutes(1)))
struct ContentModeTests {
    private let png: [UInt8]

    init() throws { png = try TestImage.png(width: 80, height: 60) }

    private func request(to side: Int, mode: ContentMode) -> ImageRequest {
        let png = png
        return ImageRequest(
            .provider(name: "image") { () throws(EideticError) in png },
            rendering: .init(size: PixelSize(width: side, height: side), contentMode: mode)
        )
    }

    @Test("F06 fillCropped crops, also an image that is made from a larger one in memory")
    func fills() async throws {
        let pipeline = ImagePipeline(.init())
        let request = request(to: 60, mode: .fillCropped(focus: .point(x: 1, y: 0)))
        let direct = try await ImagePipeline(.init()).image(for: request)
        #expect(direct.size == PixelSize(width: 60, height: 60))
        #expect(direct.pixels[0, 0].x == 20)
        _ = try await pipeline.image(for: self.request(to: 80, mode: .fit))
        let response = try await pipeline.response(for: request)
        #expect(response.source == .memory)
        #expect(response.image.size == direct.size)
        #expect(response.image.pixels[59, 59] == direct.pixels[59, 59])
    }

    @Test("F06 C02 no image is made from a cropped one, and none is shown in its place")
    func croppedAlone() async throws {
        let pipeline = ImagePipeline(.init())
        let cropped = request(to: 60, mode: .fillCropped()), whole = request(to: 40, mode: .fit)
        #expect(try await pipeline.image(for: cropped).size == PixelSize(width: 60, height: 60))
        #expect(pipeline.cachedPreview(for: whole) == nil)
        #expect(pipeline.cache.memoryImage(for: .init(whole)) == nil)
        #expect(try await pipeline.image(for: whole).size == PixelSize(width: 40, height: 30))
        // Nor is a larger one a cropped image.
        #expect(pipeline.cache.memoryImage(for: .init(request(to: 20, mode: .fillCropped()))) == nil)
        #expect(
            pipeline.cachedPreview(for: request(to: 20, mode: .fillCropped()))?.size == PixelSize(width: 40, height: 30)
        )
        try await pipeline.cache.remove(.init(whole), from: .memory)
        #expect(pipeline.cachedImage(for: cropped) == nil)
    }

    @Test("F06 each mode and each focus has its own key, and one crop has one")
    func keys() {
        let modes: [ContentMode] = [.fit, .fill, .fillCropped(), .stretch]
        #expect(Set(modes.map { request(to: 20, mode: $0) }).count == 4)
        let left = CropFocus.point(x: 0, y: 0.5)
        #expect(request(to: 20, mode: .fillCropped(focus: left)) != request(to: 20, mode: .fillCropped()))
        let outside = CropFocus.point(x: -3, y: 0.5)
        #expect(request(to: 20, mode: .fillCropped(focus: left)) == request(to: 20, mode: .fillCropped(focus: outside)))
    }

    @Test("F06 L06 an image that is decoded on first use has the size of its crop before and after")
    func deferred() async throws {
        var request = request(to: 60, mode: .fillCropped())
        request.options = .avoidDecode
        let image = try await ImagePipeline(.init()).image(for: request)
        #expect(image.size == PixelSize(width: 60, height: 60))
        #expect(try image.decodedSynchronously().pixels.size == image.size)
    }
}
