import Eidetic
import EideticTestSupport
import Testing

import struct FoundationEssentials.URL

/// Requests are values: they are made without an error, and their identity follows their properties.
@Suite("Requests as values", .timeLimit(.minutes(1)))
struct RequestValueTests {
    private let url = "https://example.org/a.png"

    @Test(
        "L28 a request for an invalid URL is created, and its load fails once with invalidURL, in every form",
        arguments: ["", "ftp://a.b/c", "https://", "no URL", "data:image/png"]
    )
    @MainActor
    func invalidURL(_ text: String) async throws {
        let pipeline = ImagePipeline(.init()), request = ImageRequest(text)
        let direct = await #expect(throws: EideticError.self) { try await pipeline.image(for: request) }
        #expect(direct?.code == .invalidURL)
        var events: [ImageTask.Event] = []
        for await event in pipeline.task(for: request).events { events.append(event) }
        #expect(events.count == 1)
        guard case .failed(let error) = events.first else { return _ = Issue.record("no failure") }
        #expect(error.code == .invalidURL)
        let result = await withCheckedContinuation { continuation in
            pipeline.load(request) { continuation.resume(returning: $0) }
        }
        #expect(throws: EideticError.self) { try result.get() }
        let offline = await #expect(throws: EideticError.self) {
            try await pipeline.image(for: ImageRequest(text, cachePolicy: .cachedOnly))
        }
        #expect(offline?.code == .invalidURL)
        #expect(await ImagePrefetcher(pipeline: pipeline).prefetch([request]).finish().failed == 1)
    }

    @Test("L28 an interceptor may respond to a request for a URL that nothing else can load")
    func ownScheme() async throws {
        struct Assets: ImageInterceptor {
            func intercept(
                _ request: ImageRequest,
                next: @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse
            ) async throws(EideticError) -> ImageResponse {
                guard request.name.hasPrefix("asset:") else { return try await next(request) }
                let pixels = try PixelBuffer(size: .init(width: 2, height: 1), alpha: .opaque) { _, _ in }
                let image = Image(frames: [.init(pixels: pixels)], format: .png, sourceSize: pixels.size)
                return ImageResponse(image, source: .disk)
            }
        }
        var configuration = ImagePipeline.Configuration()
        configuration.interceptors = [Assets()]
        let pipeline = ImagePipeline(configuration)
        #expect(try await pipeline.image(for: ImageRequest("asset:logo")).size.width == 2)
        await #expect(throws: EideticError.self) { try await pipeline.image(for: ImageRequest("other:logo")) }
    }

    @Test("L28 a request of a URL value equals that of its text")
    func urls() throws {
        let value = try #require(URL(string: url))
        #expect(ImageRequest(url: value) == ImageRequest(url))
    }

    @Test("L28 a changed property changes the identity as a new request has it; changed back, it is the old one")
    func identity() {
        let size = PixelSize(width: 9, height: 8), plain = ImageRequest(url)
        var request = plain
        request.size = size
        #expect(request != plain)
        #expect(request == ImageRequest(url, size: size))
        #expect(request.hashValue == ImageRequest(url, size: size).hashValue)
        request.size = nil
        request.options.insert(.scaleDownLargeImages)
        #expect(request == ImageRequest(url, options: .scaleDownLargeImages))
        request.options = []
        #expect(request == plain)
        request.ignoredQueryItems = ["a"]
        #expect(request == plain)
        request.resource = .init(url: "https://example.org/b.png")
        #expect(request == ImageRequest("https://example.org/b.png"))
        request.priority = .high
        #expect(request == ImageRequest("https://example.org/b.png"))
    }

    @Test("L28 header fields are a property of the request for its server, and part of its identity")
    func headers() throws {
        var request = ImageRequest(url)
        #expect(request.headers.isEmpty)
        request.headers["Authorization"] = "Bearer 1"
        #expect(request != ImageRequest(url))
        var fetch = try FetchRequest(url: url)
        fetch.headers = ["Authorization": "Bearer 1"]
        #expect(request == ImageRequest(.remote(fetch)))
        request.headers["Authorization"] = nil
        #expect(request == ImageRequest(url))
        var bytes = ImageRequest(.bytes([1]))
        bytes.headers["X-A"] = "1"
        #expect(bytes.headers.isEmpty)
    }

    @Test("L28 options imply what they require, and leave the priority as it is")
    func options() {
        var request = ImageRequest(url, priority: .high)
        request.options.insert(.progressive)
        #expect(request.priority == .high)
        request.options.insert(.matchAnimatedImage)
        #expect(request.options.contains(.preloadAllFrames))
    }
}
