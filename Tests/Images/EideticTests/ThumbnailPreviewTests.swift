import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import EideticViews
import Testing

/// A display that records the sizes of previews, and what they are shown over.
@MainActor
private final class OverlayDisplay: ImageDisplay {
    private(set) var previews: [(image: PixelSize, background: PixelSize?)] = []

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        completion()
    }

    func displayPreview(_ image: Image, over background: Image?) {
        previews.append((image.size, background?.size))
    }
}

/// Thumbnails in the EXIF block of a JPEG as first previews.
@Suite("Thumbnails as previews", .timeLimit(.minutes(1)))
struct ThumbnailPreviewTests {
    private static func jpeg(width: Int, height: Int) throws -> [UInt8] {
        let pixels = try TestImage.pixels(width: width, height: height)
        let image = Image(frames: [.init(pixels: pixels)], format: .jpeg, sourceSize: pixels.size)
        return try ImageEncoder.encode(image, as: .jpeg)
    }

    /// A block with an orientation, the size of its image, and a thumbnail in the second directory.
    private static func exif(orientation: Int, size: PixelSize, thumbnail: [UInt8]) -> [UInt8] {
        func short(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 0xff), UInt8(number & 0xff)] }
        func long(_ number: Int) -> [UInt8] { short(number >> 16) + short(number & 0xffff) }
        func entry(_ tag: Int, _ value: Int) -> [UInt8] { short(tag) + short(4) + long(1) + long(value) }
        // 8 bytes, 30 of the first directory, 30 of the photograph, 30 of the second directory.
        let first = short(2) + short(0x112) + short(3) + long(1) + short(orientation) + short(0) + entry(0x8769, 38)
        let photograph = short(2) + entry(0xa002, size.width) + entry(0xa003, size.height) + long(0)
        let second = short(2) + entry(0x201, 98) + entry(0x202, thumbnail.count) + long(0)
        return Array("Exif\0\0MM".utf8) + short(42) + long(8) + first + long(68) + photograph + second + thumbnail
    }

    private static let size = PixelSize(width: 320, height: 240)

    /// A file with a thumbnail, and the number of its bytes up to the thumbnail's end and the frame header.
    private static func file(
        orientation: Int = 1,
        size: PixelSize = size,
        thumbnail: PixelSize = PixelSize(width: 80, height: 60)
    ) throws -> (bytes: [UInt8], headCount: Int) {
        let image = try jpeg(width: Self.size.width, height: Self.size.height)
        let small = try jpeg(width: thumbnail.width, height: thumbnail.height)
        let block = exif(orientation: orientation, size: size, thumbnail: small)
        let segment = [0xff, 0xe1, UInt8((block.count + 2) >> 8), UInt8((block.count + 2) & 0xff)] + block
        return (image.prefix(2) + segment + image.dropFirst(2), segment.count + 700)
    }

    /// Returns the first preview of a file whose head arrives first, and the rest after the preview.
    private static func firstPreview(
        of file: (bytes: [UInt8], headCount: Int),
        rendering: ImageRequest.Rendering = .init(),
        policy: DecodePolicy = .inProcess
    ) async throws -> Image? {
        let gate = Gate(), (bytes, headCount) = file
        let server = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(Array(bytes[..<headCount])),
                .wait(gate), .send(Array(bytes[headCount...])),
            ]
        }
        var request = ImageRequest(server.url + "/a", options: .progressive)
        request.rendering = rendering
        request.decodePolicy = policy
        var preview: Image?
        for await event in ImagePipeline(.init()).task(for: request).events {
            switch event {
            case .preview(let image):
                preview = preview ?? image
                gate.open()
            case .finished(let response): #expect(!response.image.isPartial)
            case .failed(let error): throw error
            case .cached, .progress: break
            }
        }
        return preview
    }

    @Test("L10 the thumbnail of a camera is the first preview: whole, upright, and marked as a preview")
    func thumbnail() async throws {
        for policy in [DecodePolicy.inProcess, .sandboxed] {
            let upright = try #require(try await Self.firstPreview(of: try Self.file(), policy: policy))
            #expect(upright.size == PixelSize(width: 80, height: 60) && upright.sourceSize == Self.size)
            #expect(upright.isPartial && upright.pixels.alpha == .opaque)
            let turned = try #require(try await Self.firstPreview(of: try Self.file(orientation: 6), policy: policy))
            #expect(turned.size == PixelSize(width: 60, height: 80) && turned.sourceSize == Self.size.transposed)
            // The first row of the stored pixels, whose green is 0, is the last column.
            #expect(turned.pixels[59, 40].y < 16 && turned.pixels[0, 40].y > 40)
        }
        let rendering = ImageRequest.Rendering(size: PixelSize(width: 30, height: 30), contentMode: .fillCropped())
        let small = try await Self.firstPreview(of: try Self.file(orientation: 6), rendering: rendering)
        #expect(small?.size == PixelSize(width: 30, height: 30))
    }

    @Test(
        "L10 a thumbnail of other proportions, or of an image of another size, is not shown",
        arguments: [
            (size, PixelSize(width: 80, height: 64)), (size, size),
            (PixelSize(width: 640, height: 480), PixelSize(width: 80, height: 60)),
        ]
    )
    func stale(size: PixelSize, thumbnail: PixelSize) async throws {
        var file = try Self.file(size: size, thumbnail: thumbnail)
        file.headCount = file.bytes.count - 1_000
        #expect(try await Self.firstPreview(of: file)?.size == Self.size)
    }

    @Test("L10 L13 a thumbnail is not transformed: its pixels are not those of the image")
    func transformed() async throws {
        let calls = Counter()
        let rendering = ImageRequest.Rendering(transform: CountingTransform(count: calls))
        var file = try Self.file()
        file.headCount = file.bytes.count - 1_000
        #expect(try await Self.firstPreview(of: file, rendering: rendering)?.size == Self.size)
    }

    @Test("L10 if most of the bytes have arrived with the thumbnail, their rows are shown instead")
    func rows() async throws {
        var file = try Self.file()
        file.headCount = file.bytes.count - 1_000
        #expect(try await Self.firstPreview(of: file)?.size == Self.size)
    }

    /// A server that sends the head, waits, sends all but the end, waits again, and sends the rest.
    private static func server(_ file: (bytes: [UInt8], headCount: Int), gates: [Gate]) throws -> ScriptedOrigin {
        let (bytes, headCount) = file, middle = bytes.count - 1_000
        return try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(Array(bytes[..<headCount])),
                .wait(gates[0]), .send(Array(bytes[headCount..<middle])), .wait(gates[1]),
                .send(Array(bytes[middle...])),
            ]
        }
    }

    @Test(
        "L10 L15 rows are never shown over the thumbnail of an earlier load, whatever is kept of that",
        arguments: [ImageSlot.Presentation(delaysPlaceholder: true), .init(keepsCurrentImage: true)]
    )
    @MainActor
    func nextLoad(presentation: ImageSlot.Presentation) async throws {
        let gates = [[Gate(), Gate()], [Gate(), Gate()]], completions = Counter()
        let sizes = [PixelSize(width: 80, height: 60), PixelSize(width: 40, height: 30)]
        let servers = [
            try Self.server(try Self.file(thumbnail: sizes[0]), gates: gates[0]),
            try Self.server(try Self.file(thumbnail: sizes[1]), gates: gates[1]),
        ]
        let display = OverlayDisplay()
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate())
        for (server, size) in zip(servers, sizes) {
            var request = ImageRequest(server.url + "/a", options: .progressive)
            request.decodePolicy = .inProcess
            slot.load(request, presentation: presentation) { _ in completions.increment() }
            try await eventually("the thumbnail is shown") { display.previews.contains { $0.image == size } }
        }
        gates[1][0].open()
        try await eventually("rows of the second image") { display.previews.last?.image == Self.size }
        #expect(display.previews.last?.background == sizes[1])
        for gate in gates.joined() { gate.open() }
        try await eventually("both loads have ended", is: 2) { completions.value }
    }

    @Test("L10 the rows that follow are shown over the thumbnail")
    @MainActor
    func overlay() async throws {
        let file = try Self.file(), gates = [Gate(), Gate()]
        let server = try Self.server(file, gates: gates)
        let display = OverlayDisplay(), completions = Counter()
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate())
        var request = ImageRequest(server.url + "/a", options: .progressive)
        request.decodePolicy = .inProcess
        slot.load(request) { _ in completions.increment() }
        try await eventually("the thumbnail is shown") { !display.previews.isEmpty }
        gates[0].open()
        try await eventually("rows are shown") { display.previews.count > 1 }
        gates[1].open()
        try await eventually("the load has ended") { completions.value > 0 }
        let thumbnail = PixelSize(width: 80, height: 60)
        #expect(display.previews.first?.image == thumbnail)
        #expect(display.previews.last?.image == Self.size && display.previews.last?.background == thumbnail)
    }
}
