import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Image cache: storing", .timeLimit(.minutes(2)))
struct ImageCacheStoringTests {
    @Test("C06 an image without bytes is encoded: its own format, WebP if animated, PNG with alpha, else JPEG")
    func formats() throws {
        let fixture = try ImageCacheFixture()
        let cases: [(String, Image, ImageFormat)] = [
            ("own", try TestImage.image(format: .png), .png),
            ("jpeg", try TestImage.image(format: .jpeg), .jpeg),
            ("webp", try TestImage.image(format: .webp), .webp),
            ("animation", try TestImage.image(frames: 3, format: .png), .webp),
            ("GIF", try TestImage.image(frames: 3, format: .gif), .gif),
            // A side of WebP has 14 bits, without zero.
            ("16383 wide", try TestImage.image(width: 16_383, height: 1, frames: 2), .webp),
            ("16384 wide", try TestImage.image(width: 16_384, height: 1, frames: 2), .gif),
            ("alpha", try TestImage.image(format: .bmp, hasAlpha: true), .png),
            ("opaque", try TestImage.image(format: .bmp), .jpeg),
            ("rounded photograph", try TestImage.image(format: .jpeg, hasAlpha: true), .png),
        ]
        for (name, image, format) in cases {
            try fixture.cache.blocking.insert(image, for: .init(name))
            let bytes = try #require(try fixture.cache.blocking.bytes(for: .init(name)))
            #expect(try ImageDecoder.header(of: bytes)?.format == format, "\(name)")
            #expect(try ImageDecoder.header(of: bytes)?.frameCount == image.frames.count, "\(name)")
        }
    }

    @Test(
        "C06 an animation that plays from its bytes is stored with all its frames",
        arguments: [ImageFormat.gif, .webp]
    )
    func playingAnimation(format: ImageFormat) async throws {
        let frames = try TestImage.image(frames: 5, format: format)
        let request = ImageRequest(.bytes(try frames.encoded(as: format, quality: 1)))
        let image = try await ImagePipeline(.init()).image(for: request)
        try #require(image.frames.count == 1 && image.animation?.frameCount == 5)
        var configuration = ImageCache.Configuration()
        configuration.decodeLimits.animationBytes = ByteCount(5 * image.pixels.byteCount.bytes)
        let fixture = try ImageCacheFixture(configuration)
        try await fixture.cache.insert(image, for: "a")
        try fixture.cache.blocking.insert(image, for: "b")
        for key in ["a", "b"] {
            let bytes = try #require(try await fixture.cache.bytes(for: .init(key)))
            #expect(try ImageDecoder.header(of: bytes)?.format == format)
            let all = try #require(try await fixture.nextRun().image(for: .init(key, options: .preloadAllFrames)))
            #expect(all.frames.map { $0.pixels.allBytes } == frames.frames.map { $0.pixels.allBytes })
            #expect(all.frames.map(\.duration) == frames.frames.map(\.duration))
            #expect(all.loopCount == frames.loopCount)
        }
        configuration.decodeLimits.animationBytes = ByteCount(5 * image.pixels.byteCount.bytes - 1)
        let smaller = try ImageCacheFixture(configuration)
        #expect(await errorCode { try await smaller.cache.insert(image, for: "a") } == .limitExceeded)
        #expect(errorCode { try smaller.cache.blocking.insert(image, for: "b") } == .limitExceeded)
    }

    @Test("C07 F03 the first frame of an animation and all its frames are two images, in memory and on disk")
    func framesOfAnimation() async throws {
        let fixture = try ImageCacheFixture()
        let animation = try TestImage.image(frames: 5, format: .gif)
        let first = ImageCache.Key("a", options: .firstFrameOnly), all = ImageCache.Key("a", options: .preloadAllFrames)
        let small = PixelSize(width: 4, height: 4)
        for key in [first, all] {
            try await fixture.cache.insert(animation, for: key)
            for cache in [fixture.cache, fixture.nextRun()] {
                #expect(try await cache.image(for: first)?.frames.count == 1)
                #expect(try await cache.image(for: "a")?.frames.count == 1)
                #expect(try await cache.image(for: all)?.frames.count == 5)
                #expect(try cache.blocking.image(for: all)?.frames.count == 5)
                #expect(try await cache.image(for: .init("a", rendering: .init(size: small)))?.frames.count == 1)
            }
            #expect(try fixture.disk.blocking.entries().map(\.metadata.kind) == [.original])
            try await fixture.cache.removeAll()
        }
    }

    @Test("C06 bytes are stored unchanged, and an error reaches the caller; the image is in memory all the same")
    func bytes() async throws {
        let fixture = try ImageCacheFixture()
        let bytes = try TestImage.png(width: 5, height: 4)
        try await fixture.cache.insert(try TestImage.image(), bytes: bytes, for: "a")
        #expect(try await fixture.cache.bytes(for: "a") == bytes)
        try await fixture.cache.insert(bytes: bytes, for: "b")
        #expect(fixture.cache.memoryImage(for: "b") == nil)
        #expect(try fixture.cache.blocking.image(for: "b")?.size == PixelSize(width: 5, height: 4))
        #expect(await errorCode { try await fixture.cache.insert(bytes: [1, 2, 3], for: "c") } == .truncated)
        #expect(try !fixture.cache.blocking.contains("c"))
        fixture.plan.fail(.write, with: ENOSPC, count: 2)
        #expect(await errorCode { try await fixture.cache.insert(try TestImage.image(), for: "d") } == .diskFull)
        #expect(fixture.cache["d"] != nil)
        #expect(await errorCode { try await fixture.cache.insert(try TestImage.image(), for: "") } == .invalidArgument)
    }

    @Test("C06 an image is stored in the given tiers, and the call returns after the write")
    func tiers() async throws {
        let fixture = try ImageCacheFixture()
        let image = try TestImage.image()
        for (name, tiers) in [("none", ImageCache.Tiers.none), ("memory", .memory), ("disk", .disk), ("all", .all)] {
            try await fixture.cache.insert(image, for: .init(name), in: tiers)
            #expect(try fixture.cache.blocking.tiers(containing: .init(name)) == tiers, "\(name)")
        }
        var configuration = ImageCache.Configuration()
        configuration.keepsInMemory = false
        let frugal = fixture.nextRun(configuration)
        try frugal.blocking.insert(image, for: "frugal")
        #expect(try frugal.blocking.tiers(containing: "frugal") == .disk)
        #expect(try frugal.blocking.image(for: "frugal") != nil)
        #expect(try frugal.blocking.tiers(containing: "frugal") == .disk)
    }

    @Test("C07 a thumbnail is never stored under the key of the full image, with its bytes or without")
    func thumbnails() async throws {
        let fixture = try ImageCacheFixture()
        let fullSize = PixelSize(width: 640, height: 480), size = PixelSize(width: 64, height: 48)
        let thumbnail = try TestImage.image(width: 64, height: 48, sourceSize: fullSize)
        try await fixture.cache.insert(thumbnail, for: "a")
        #expect(fixture.cache["a"] == nil)
        #expect(try fixture.nextRun().blocking.image(for: "a") == nil)
        let key = ImageCache.Key("a", rendering: .init(size: size))
        #expect(fixture.cache[key]?.size == size)
        let next = fixture.nextRun()
        #expect(try await next.image(for: key)?.size == size)
        #expect(try await next.image(for: "a") == nil)
        #expect(try fixture.disk.blocking.entries().map(\.metadata.kind) == [.derived])
        // With the bytes of the full image, those are stored.
        let fullBytes = try TestImage.png(width: 640, height: 480)
        try await fixture.cache.insert(thumbnail, bytes: fullBytes, for: "b")
        #expect(fixture.cache["b"] == nil)
        #expect(try await fixture.cache.image(for: "b")?.size == fullSize)
    }

    @Test("C07 a cropped image is not taken for a thumbnail of its resource")
    func cropped() async throws {
        let fixture = try ImageCacheFixture(), size = PixelSize(width: 400, height: 300)
        let cropped = try TestImage.image(width: 50, height: 50, sourceSize: size)
        #expect(throws: EideticError.self) { try fixture.cache.blocking.insert(cropped, for: "a") }
        #expect(try fixture.cache.blocking.tiers(containing: "a") == .none)
        let key = ImageCache.Key("a", rendering: .init(size: cropped.size, contentMode: .fillCropped()))
        try await fixture.cache.insert(cropped, for: key)
        #expect(fixture.cache[key]?.size == cropped.size)
        // Rounded sides are no crop, whichever of them was rounded.
        for (width, height) in [(74, 100), (1, 1), (75, 100), (300, 400)] {
            let thumbnail = try TestImage.image(
                width: width,
                height: height,
                sourceSize: PixelSize(width: 300, height: 401)
            )
            try await fixture.cache.insert(thumbnail, for: "b\(width)")
        }
    }

    @Test("C07 an image that is made from an evicted one in use expires with it")
    func evictedSource() throws {
        let memory = ImageMemoryCache(costLimit: .mebibytes(10), time: ManualTime()),
            image = try TestImage.image(width: 64, height: 48)
        memory.insert(image, for: CacheKey("large"), base: CacheKey("base"), timeToLive: .seconds(60))
        memory.images.trim(toCost: .zero)
        let size = PixelSize(width: 8, height: 6)
        let found = memory.largerImage(for: CacheKey("small"), base: CacheKey("base"), size: size, mode: .fit)
        #expect(found?.timeToLive == .seconds(60))
        withExtendedLifetime(image) {}
    }

    @Test("C16 the key hook changes keys, and the serializer the bytes on disk; its errors reach the caller")
    func hooks() async throws {
        var configuration = ImageCache.Configuration()
        configuration.keyHook = { String($0.prefix { $0 != "?" }) }
        configuration.serializer = ImageCache.Serializer(
            encode: { image, bytes, key throws(EideticError) in
                if key == "refused" { throw EideticError(.encodingFailed, message: key) }
                guard let image else { return bytes ?? [] }
                return try ImageEncoder.encode(image, as: .png).map { $0 ^ 0x5a }
            },
            decode: { bytes, _ in bytes.map { $0 ^ 0x5a } }
        )
        let fixture = try ImageCacheFixture(configuration)
        try await fixture.cache.insert(try TestImage.image(), for: "http://a/b.png?token=1")
        #expect(fixture.cache["http://a/b.png?token=2"] != nil)
        #expect(try fixture.disk.blocking.entries().map(\.key) == ["http://a/b.png"])
        let raw = try #require(try fixture.disk.blocking.read("http://a/b.png")).bytes
        #expect(raw.first == 0xd3)
        let next = fixture.nextRun(configuration)
        #expect(try await next.image(for: "http://a/b.png?token=3")?.size == PixelSize(width: 8, height: 6))
        let refusal = await errorCode { try await fixture.cache.insert(try TestImage.image(), for: "refused") }
        #expect(refusal == .encodingFailed)
    }

    @Test("C16 extended data is stored with an image on disk, and read with its bytes")
    func extendedData() async throws {
        let fixture = try ImageCacheFixture()
        var metadata = DiskCache.Metadata()
        metadata.extendedData = [1, 2, 3]
        try await fixture.cache.insert(try TestImage.image(), for: "a", metadata: metadata)
        #expect(try await fixture.cache.metadata(for: "a")?.extendedData == [1, 2, 3])
        let hit = try await fixture.cache.lookup("a", includingData: true)
        #expect(hit?.source == .memory)
        #expect(hit?.metadata?.extendedData == [1, 2, 3])
    }

    @Test("C06 a partial image is not stored")
    func partial() throws {
        let fixture = try ImageCacheFixture()
        let complete = try TestImage.image()
        let image = Image(frames: complete.frames, format: .png, sourceSize: complete.size, isPartial: true)
        #expect(errorCode { try fixture.cache.blocking.insert(image, for: "a") } == .invalidArgument)
        #expect(fixture.cache["a"] == nil)
    }
}
