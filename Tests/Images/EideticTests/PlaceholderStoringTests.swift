import Eidetic
import EideticCodecs
import EideticCore
import EideticStore
import EideticTestSupport
import EideticViews
import Testing

@Suite("Stored placeholders", .timeLimit(.minutes(2)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
@MainActor
struct PlaceholderStoringTests {
    @Test("F08 a placeholder is made when an image is stored, and is kept when the server confirms it")
    func stored() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        let key = ImageCache.Key(request)
        #expect(try await fixture.pipeline.cache.placeholder(for: key) == nil)
        let image = try await fixture.pipeline.image(for: request)
        let expected = try ImagePlaceholder(of: image.pixels)
        #expect(try await fixture.pipeline.cache.placeholder(for: key) == expected)
        let next = try fixture.nextRun()
        for _ in 0..<2 { _ = try await next.image(for: request) }
        let statuses = try await fixture.server.requests().filter { $0.path == "/a.png" }.map(\.status)
        #expect(statuses.contains(304))
        #expect(try await next.cache.placeholder(for: key) == expected)
        let thumbnail = request.with(rendering: .init(size: PixelSize(width: 16, height: 16)))
        #expect(try await next.cache.placeholder(for: ImageCache.Key(thumbnail)) == expected)
    }

    @Test("F08 a placeholder is read without the bytes of its image")
    func withoutBody() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(cachePolicy: .afterStorage)
        let image = try await fixture.pipeline.image(for: request), key = ImageCache.Key(request)
        let path = try #require(fixture.pipeline.cache.path(for: key))
        var file = try FileSystem().contents(of: path)
        for index in 0..<64 { file[index] ^= 0x55 }
        try FileSystem().replaceContents(of: path, with: file)
        let placeholder = try await fixture.nextRun().cache.placeholder(for: key)
        #expect(try placeholder == ImagePlaceholder(of: image.pixels))
    }

    @Test("F08 an image that is first loaded cropped, distorted or transformed has the placeholder of the whole one")
    func cropped() async throws {
        let square = PixelSize(width: 20, height: 20)
        for contentMode in [ContentMode.fillCropped(), .stretch] {
            let fixture = try await PipelineFixture()
            var request = try fixture.serve(size: square, cachePolicy: .afterStorage)
            request.rendering.contentMode = contentMode
            try await expectWholePlaceholder(request, from: fixture)
        }
        let fixture = try await PipelineFixture()
        var request = try fixture.serve(cachePolicy: .afterStorage)
        request.rendering.transform = .resize(square, contentMode: .fillCropped())
        try await expectWholePlaceholder(request, from: fixture)
    }

    private func expectWholePlaceholder(_ request: ImageRequest, from fixture: PipelineFixture) async throws {
        let part = try await fixture.pipeline.image(for: request)
        #expect(part.size == PixelSize(width: 20, height: 20))
        let stored = try await fixture.pipeline.cache.placeholder(for: ImageCache.Key(request))
        var whole = request
        whole.rendering = ImageRequest.Rendering()
        #expect(try await stored == ImagePlaceholder(of: fixture.pipeline.image(for: whole).pixels))
    }

    @Test("F08 what an application stores as an image has a placeholder, with and without bytes; bytes alone have none")
    func inserted() async throws {
        let directory = try TemporaryDirectory(named: "placeholder")
        let disk = try DiskCache(.init(directory: directory.path(of: "cache")))
        let cache = ImagePipeline(.init(diskCache: disk)).cache
        let bytes = try TestImage.png(width: 64, height: 48), image = try ImageDecoder.decode(bytes)
        let expected = try ImagePlaceholder(of: image.pixels)
        let keys = (1...4).map { ImageCache.Key("http://a/\($0)") }
        try await cache.insert(image, for: keys[0])
        try await cache.insert(image, bytes: bytes, for: keys[1])
        try cache.blocking.insert(image, bytes: bytes, for: keys[2])
        try await cache.insert(bytes: bytes, for: keys[3])
        var stored: [ImagePlaceholder?] = []
        for key in keys { stored.append(try await cache.placeholder(for: key)) }
        #expect(stored == [expected, expected, expected, nil])
        // The entry is still that of a response without facts.
        #expect(try await cache.image(for: keys[1])?.size == image.size)
    }

    @Test("F08 a slot shows the placeholder from the store until the image is loaded")
    func slot() async throws {
        let png = try TestImage.png(width: 64, height: 48), gate = Gate(), count = Counter()
        let server = try ScriptedOrigin { _ in
            count.increment()
            return (count.value == 1 ? [] : [.wait(gate)]) + [.response(200, headers: [:], body: png)]
        }
        let directory = try TemporaryDirectory(named: "placeholder")
        let disk = try DiskCache(.init(directory: directory.path(of: "cache")))
        let first = ImageRequest(server.url + "/a", cachePolicy: .afterStorage)
        _ = try await ImagePipeline(.init(diskCache: disk)).image(for: first)
        let display = RecordingDisplay()
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init(diskCache: disk)), gate: DisplayGate())
        slot.load(ImageRequest(server.url + "/a", cachePolicy: .reload), presentation: .storedPlaceholder)
        try await eventually("two images are displayed") { display.images.count >= 2 }
        let blurred = try #require(try await first.storedImage(in: disk))
        #expect(display.images == [.nothing, .image(blurred.size, hasTransition: false)])
        gate.open()
        try await eventually("the slot has no task") { slot.task == nil }
        #expect(display.images.last == .image(PixelSize(width: 64, height: 48), hasTransition: false))
    }

    @Test("F08 a slot shows the placeholder of a server's text")
    func text() throws {
        let display = RecordingDisplay()
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate())
        slot.load(nil, presentation: .placeholder(.blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")))
        slot.load(nil, presentation: .placeholder(.thumbHash("1QcSHQRnh493V4dIh4eXh1h4kJUI")))
        slot.load(nil, presentation: .placeholder(.color(ImageColor(red: 9, green: 8, blue: 7))))
        slot.load(nil, presentation: .placeholder(.blurHash("no hash")))
        #expect(
            display.images == [
                .image(PixelSize(width: 32, height: 32), hasTransition: false),
                .image(PixelSize(width: 23, height: 32), hasTransition: false),
                .image(PixelSize(width: 1, height: 1), hasTransition: false), .nothing,
            ]
        )
    }
}

extension ImageRequest {
    /// Returns the image of the placeholder that a disk cache has.
    fileprivate func storedImage(in disk: DiskCache) async throws -> Image? {
        try await ImagePipeline(.init(diskCache: disk)).cache.placeholder(for: ImageCache.Key(self))?.image()
    }
}
