import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import FoundationEssentials
import Testing

@Suite("Requests")
struct RequestTests {
    private let url = "https://example.org/a.png"

    @Test("L01 bytes are taken as a server has them: an array, data, or a slice of a buffer")
    func givenBytes() async throws {
        let png = try TestImage.png(width: 3, height: 2), data = Data([0] + png)
        let requests = [
            ImageRequest(.bytes(png)), ImageRequest(.bytes(Data(png))), ImageRequest(.bytes(data[1...])),
            ImageRequest(.bytes(png[...])),
        ]
        for request in requests {
            #expect(request == requests[0])
            #expect(try await ImagePipeline(.init()).image(for: request).size == PixelSize(width: 3, height: 2))
        }
    }

    @Test("L02 settings that change a pixel are part of the identity, others are not")
    func identity() throws {
        let plain = ImageRequest(url)
        #expect(plain == ImageRequest(url, priority: .high))
        #expect(plain != ImageRequest(url, cachePolicy: .reload))
        var sandboxed = plain
        sandboxed.decodePolicy = .sandboxed
        #expect(plain == sandboxed && plain.hashValue == sandboxed.hashValue)
        #expect(plain != ImageRequest(url, size: PixelSize(width: 10, height: 10)))
        #expect(plain != plain.with(options: .scaleDownLargeImages))
        let fit = ImageRequest(url, size: PixelSize(width: 10, height: 10))
        #expect(fit != ImageRequest(url, size: PixelSize(width: 10, height: 10), contentMode: .fillCropped()))
        #expect(plain != plain.with(rendering: .init(transform: InvertingTransform())))
    }

    @Test("L02 C02 options that change no pixel of a request do not change the image's key")
    func sameKeys() throws {
        let plain = ImageRequest(url)
        func key(options: ImageOptions, rendering: ImageRequest.Rendering = .init()) -> ImageCache.Key {
            ImageCache.Key(plain.with(rendering: rendering, options: options))
        }
        #expect(key(options: .transformAnimatedImage) == key(options: []))
        #expect(key(options: [.firstFrameOnly, .preloadAllFrames]) == key(options: .firstFrameOnly))
        #expect(key(options: .firstFrameOnly) != key(options: []))
        #expect(key(options: .transformVectorImage) == key(options: []))
        #expect(key(options: .preloadAllFrames) != key(options: []))
        for options in [ImageOptions.matchAnimatedImage, [.matchAnimatedImage, .firstFrameOnly]] {
            #expect(key(options: options) == ImageCache.Key(url, options: options))
        }
        #expect(
            key(options: .transformAnimatedImage, rendering: .init(transform: InvertingTransform()))
                != key(options: [], rendering: .init(transform: InvertingTransform()))
        )
    }

    @Test("L05 a request made from another keeps its priority and its use of the caches, unless they are changed")
    func keepsPriority() throws {
        var request = ImageRequest(url, priority: .low, cachePolicy: .reload)
        #expect(request.with(rendering: .init(size: PixelSize(width: 1, height: 1))).priority == .low)
        #expect(request.with(options: .progressive).priority == .low)
        #expect(request.with(options: .progressive).cachePolicy == .reload)
        #expect(request.with(priority: .normal).priority == .normal)
        request.cachePolicy = .noStore
        #expect(request.with(cachePolicy: .standard).priority == .low)
    }

    @Test(
        "L06 C07 images loaded with any certificate or with cookies are shared only with requests that allow the same"
    )
    func apart() throws {
        let plain = ImageRequest(url), remote = try FetchRequest(url: url)
        var (unsafe, personal) = (remote, remote)
        unsafe.allowsInvalidCertificates = true
        personal.usesCookies = true
        for (other, options) in [(unsafe, ImageOptions.allowInvalidCertificates), (personal, .handleCookies)] {
            let key = ImageCache.Key(plain.with(options: options))
            #expect(key != ImageCache.Key(plain))
            #expect(ImageCache.Key(ImageRequest(.remote(other))) == key)
        }
    }

    @Test(
        "L06 query items of a signature are left out of the identity",
        arguments: [
            ("https://a.b/c.png?id=1&X-Amz-Date=2&X-Amz-Signature=3", "https://a.b/c.png?id=1&X-Amz-Date=9"),
            ("https://a.b/c.png?sig=1", "https://a.b/c.png"),
            ("https://a.b/c.png?sig=1&id=4", "https://a.b/c.png?id=4&sig=2"),
            ("https://a.b/c.png?\u{301}=1&sig=\u{301}2#\u{301}a", "https://a.b/c.png?\u{301}=1#\u{301}a"),
        ]
    )
    func signedURLs(first one: String, second two: String) throws {
        let ignored: Set = ["X-Amz-*", "sig"]
        let requests = [one, two].map {
            ImageRequest(ImageRequest.Resource(url: $0), ignoredQueryItems: ignored)
        }
        #expect(requests[0] == requests[1])
        #expect(requests.map(\.name) == [one, two].map { ImageRequest($0).name })
        #expect(ImageRequest(one) != ImageRequest(two))
    }

    @Test("L18 the image in a data URL is decoded, from base64 and from percent encoding")
    func dataURLs() async throws {
        let png = try TestImage.png(width: 3, height: 2)
        let pipeline = ImagePipeline(.init())
        let percent = png.map { "%" + String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
        for text in ["data:image/png;base64,\(Base64.encode(png))", "data:,\(percent)"] {
            #expect(try await pipeline.image(for: ImageRequest(text)).size == PixelSize(width: 3, height: 2))
        }
    }

    /// Fetch Standard, section 6 ("data: URL processor"), and Infra Standard, section 7 ("forgiving-base64 decode").
    @Test(
        "L18 the data of a data URL are read as in browsers",
        arguments: [
            ("data:,a%", "a%"), ("data:,%4", "%4"), ("data:,%zz%41", "%zzA"), ("data:,a#b", "a"), ("data:,a,b", "a,b"),
            (" \ndata:,a", "a"),
            ("data:text/plain;  base64,YQ==", "a"), ("data:;BASE64 ,YQ", "a"), ("data:;base64,YR==", "a"),
            ("data:;base64, Y Q%20%3D%3d ", "a"), ("data:;base64,YWI=#x", "ab"), ("data:;base64,Y\nQ=\t=", "a"),
            ("DATA:;base64,YWJj", "abc"), ("data:base64,YQ==", "YQ=="), ("data:;base64;x,YQ==", "YQ=="), ("data:,", ""),
        ]
    )
    func dataOfURLs(_ text: String, data: String) throws {
        guard case .bytes(let bytes) = ImageRequest.Resource(url: text).kind else { Issue.record("no bytes"); return }
        #expect(String(decoding: bytes, as: UTF8.self) == data)
    }

    @Test(
        "L18 broken data URLs are refused",
        arguments: ["data:image/png;base64", "data:;base64,%%%", "data:;base64,AAAAA"]
    )
    func brokenDataURLs(_ text: String) async {
        let error = await #expect(throws: EideticError.self) {
            try await ImagePipeline(.init()).image(for: ImageRequest(text))
        }
        #expect(error?.code == .invalidURL)
    }

    @Test("L18 the image in a file is loaded, and a changed file is another image")
    func files() async throws {
        let directory = try TemporaryDirectory(named: "files"), pipeline = ImagePipeline(.init())
        try directory.write(try TestImage.png(width: 3, height: 2), to: "a b.png")
        let url = "file://" + directory.path(of: "a%20b.png")
        let path = directory.path(of: "a b.png")
        let request = ImageRequest(url), file = ImageRequest(.init(.file(try LocalFile(path: path))))
        #expect(try await pipeline.response(for: request).source == .disk)
        #expect(try await pipeline.response(for: request).source == .memory)
        #expect(try await pipeline.response(for: file).source == .memory)
        #expect(pipeline.cachedImage(for: request)?.size == PixelSize(width: 3, height: 2))
        try directory.write(try TestImage.png(width: 5, height: 4), to: "a b.png")
        #expect(ImageRequest(.init(.file(try LocalFile(path: path)))) != file)
        #expect(try await pipeline.response(for: request).source == .disk)
        #expect(pipeline.cachedImage(for: request)?.size == PixelSize(width: 5, height: 4))
        let missing = await #expect(throws: EideticError.self) {
            try await pipeline.image(for: ImageRequest("file:///nowhere/a.png"))
        }
        #expect(missing?.code == .notFound)
    }

    @Test("C14 a request for the URL of a file does not look at the file, which may be made later")
    func fileOfLater() async throws {
        let directory = try TemporaryDirectory(named: "files"), pipeline = ImagePipeline(.init())
        let request = ImageRequest("file://" + directory.path(of: "a.png"))
        let error = await #expect(throws: EideticError.self) { try await pipeline.image(for: request) }
        #expect(error?.code == .notFound)
        try directory.write(try TestImage.png(width: 3, height: 2), to: "a.png")
        #expect(try await pipeline.image(for: request).size == PixelSize(width: 3, height: 2))
    }

    @Test("L18 a provider is called once for concurrent loads")
    func providers() async throws {
        let calls = Guarded(0), png = try TestImage.png(width: 3, height: 2), pipeline = ImagePipeline(.init())
        let request = ImageRequest(
            .provider(name: "chart") { () throws(EideticError) in
                calls.withLock { $0 += 1 }
                return png
            }
        )
        async let one = pipeline.image(for: request)
        async let two = pipeline.image(for: request)
        _ = try await (one, two)
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("L13 a transform runs once, after decoding, and its result has a key of its own")
    func transforms() async throws {
        let directory = try TemporaryDirectory(named: "files"), pipeline = ImagePipeline(.init())
        try directory.write(try TestImage.png(width: 3, height: 2), to: "a.png")
        let plain = ImageRequest("file://" + directory.path(of: "a.png"))
        let changed = plain.with(
            rendering: .init(
                transform: TransformChain([InvertingTransform(), InvertingTransform(), InvertingTransform()])
            )
        )
        #expect(try await pipeline.image(for: changed).pixels[2, 1] == SIMD4(253, 254, 248, 255))
        #expect(try await pipeline.image(for: plain).pixels[2, 1] == SIMD4(2, 1, 7, 255))
        #expect(pipeline.cachedImage(for: changed)?.pixels[2, 1] == SIMD4(253, 254, 248, 255))
    }

    @Test("C15 an image has the scale in its name")
    func scale() async throws {
        let directory = try TemporaryDirectory(named: "files"), pipeline = ImagePipeline(.init())
        for (name, scale) in [("a.png", 1.0), ("a@2x.png", 2), ("a%403x.png", 3)] {
            try directory.write(try TestImage.png(width: 3, height: 2), to: name.replacing("%40", with: "@"))
            let image = try await pipeline.image(for: ImageRequest("file://" + directory.path(of: name)))
            #expect(image.scale == scale)
        }
    }

    @Test("L20 a request processor can refuse a request")
    func processors() async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.requestProcessors = [requireHTTPS]
        let pipeline = ImagePipeline(configuration)
        let error = await #expect(throws: EideticError.self) {
            try await pipeline.image(for: ImageRequest("http://example.org/a.png"))
        }
        #expect(error?.code == .refused)
    }

    @Test("L18 a response has the trace of its load")
    func explains() async throws {
        let directory = try TemporaryDirectory(named: "files"), pipeline = ImagePipeline(.init())
        try directory.write(try TestImage.png(width: 3, height: 2), to: "a.png")
        let request = ImageRequest("file://" + directory.path(of: "a.png"))
        let first = try await pipeline.response(for: request).trace
        #expect(first.steps.map(\.stage) == [.memory, .origin, .decode])
        #expect(first.steps.map(\.detail).first == "miss")
        #expect(try await pipeline.response(for: request).trace.steps.map(\.detail) == ["hit"])
    }
}

@Sendable
private func requireHTTPS(_ request: ImageRequest) throws(EideticError) -> ImageRequest {
    guard request.name.hasPrefix("https:") else { throw EideticError(.refused, message: "https only") }
    return request
}

/// A transform that inverts all colours.
private struct InvertingTransform: ImageTransform {
    let key = "negative"

    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        try PixelBuffer(size: pixels.size, alpha: pixels.alpha) { target, _ throws(EideticError) in
            pixels.withUnsafeBytes { source in
                for index in 0..<source.count { target[index] = index % 4 == 3 ? source[index] : 255 - source[index] }
            }
        }
    }
}

private enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let number = (Array(part) + [0, 0]).prefix(3).reduce(0) { $0 << 8 | Int($1) }
            for digit in 0..<4 { text.append(digit <= part.count ? digits[number >> (18 - 6 * digit) & 63] : "=") }
        }
        return text
    }
}
