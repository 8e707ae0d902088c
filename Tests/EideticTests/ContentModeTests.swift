import Eidetic
import Testing

@Suite("Content modes of requests", .timeLimit(.minutes(1)))
struct ContentModeTests {
    private let png: [UInt8]

    init() throws { png = try TestImage.png(width: 80, height: 60) }

    private func request(_ width: Int, _ height: Int, _ mode: ContentMode, focus: CropFocus = .center) -> ImageRequest {
        let png = png
        return ImageRequest(
            .provider(name: "image") { () throws(EideticError) in png },
            rendering: .init(size: PixelSize(width: width, height: height), contentMode: mode, cropFocus: focus)
        )
    }

    @Test("F06 fill crops, also an image that is made from a larger one in memory")
    func fills() async throws {
        let pipeline = ImagePipeline(.init())
        let request = request(60, 60, .fill, focus: .point(x: 1, y: 0))
        let direct = try await ImagePipeline(.init()).image(for: request)
        #expect(direct.size == PixelSize(width: 60, height: 60))
        #expect(direct.pixels[0, 0].x == 20)
        _ = try await pipeline.image(for: self.request(80, 80, .fit))
        let response = try await pipeline.response(for: request)
        #expect(response.source == .memory)
        #expect(response.image.size == direct.size)
        #expect(response.image.pixels[59, 59] == direct.pixels[59, 59])
    }

    @Test("F06 C02 no image is made from a cropped one, and none is shown in its place")
    func croppedAlone() async throws {
        let pipeline = ImagePipeline(.init())
        let cropped = request(60, 60, .fill), whole = request(40, 40, .fit)
        #expect(try await pipeline.image(for: cropped).size == PixelSize(width: 60, height: 60))
        #expect(pipeline.cachedPreview(for: whole) == nil)
        #expect(pipeline.cache.memoryImage(for: .init(whole)) == nil)
        #expect(try await pipeline.image(for: whole).size == PixelSize(width: 40, height: 30))
        // Nor is a larger one a cropped image.
        #expect(pipeline.cache.memoryImage(for: .init(request(20, 20, .fill))) == nil)
        #expect(pipeline.cachedPreview(for: request(20, 20, .fill))?.size == PixelSize(width: 40, height: 30))
        try await pipeline.cache.remove(.init(whole), from: .memory)
        #expect(pipeline.cachedImage(for: cropped) == nil)
    }

    @Test("F06 each mode and each focus of fill has its own key, and the focus matters with fill only")
    func keys() {
        let modes: [ContentMode] = [.fit, .fill, .aspectFill, .stretch]
        #expect(Set(modes.map { request(20, 20, $0) }).count == 4)
        let left = CropFocus.point(x: 0, y: 0.5)
        #expect(request(20, 20, .fill, focus: left) != request(20, 20, .fill))
        #expect(request(20, 20, .fit, focus: left) == request(20, 20, .fit))
    }

    @Test("F06 L06 an image that is decoded on first use has the size of its crop before and after")
    func deferred() async throws {
        var request = request(60, 60, .fill)
        request.options = .avoidDecode
        let image = try await ImagePipeline(.init()).image(for: request)
        #expect(image.size == PixelSize(width: 60, height: 60))
        #expect(try image.decodedSynchronously().pixels.size == image.size)
    }
}
