import Dispatch
import Eidetic
import EideticCodecs
import EideticFetch
import EideticTesting
import Synchronization
import Testing

/// Codecs of users, which are registered for the whole process, so that each test has a format of its own.
@Suite("Codecs of users", .timeLimit(.minutes(1)))
struct CodecPluginTests {
    @Test("L27 an image in a registered format is detected, loaded, scaled and cached as any other")
    func loads() async throws {
        let codec = GreyCodec(name: "one")
        ImageDecoder.register(codec)
        #expect(ImageFormat.detect(in: codec.file(side: 8)) == .format(codec.format))
        #expect(ImageDecoder.supportedFormats.contains(codec.format))
        let network = FakeNetwork(), pipeline = ImagePipeline.fake(over: network)
        network.respond(to: "https://example.org/a.one", with: .bytes(codec.file(side: 8)))
        var request = ImageRequest("https://example.org/a.one")
        let image = try await pipeline.image(for: request)
        #expect(image.format == codec.format)
        #expect("\(image.format)" == "one")
        request.size = PixelSize(width: 4, height: 4)
        #expect(try await pipeline.image(for: request).size == PixelSize(width: 4, height: 4))
        #expect(network.requests.first?.headers["Accept"]?.contains("image/x-one") == true)
    }

    @Test("L27 without its codec the same file is not an image; with few bytes of it more are needed")
    func detection() {
        let codec = GreyCodec(name: "two")
        #expect(ImageFormat.detect(in: codec.file(side: 2)) == .unknown)
        ImageDecoder.register(codec)
        let file = codec.file(side: 2), length = codec.signatures[0].count
        #expect(ImageFormat.detect(in: Array(file.prefix(length - 1))) == .needsMoreBytes)
        #expect(ImageFormat.detect(in: Array(file.prefix(length - 1)), isComplete: true) == .unknown)
        #expect(ImageFormat.detect(in: Array(file.prefix(length))) == .format(codec.format))
    }

    @Test("L27 a codec that is removed reads nothing more, and only one that was added can be removed")
    func removal() async throws {
        let codec = GreyCodec(name: "seven"), file = codec.file(side: 2), network = FakeNetwork()
        ImageDecoder.register(codec)
        #expect(ImageDecoder.registeredFormats.contains(codec.format))
        #expect(ImageDecoder.unregister(codec.format))
        #expect(!ImageDecoder.registeredFormats.contains(codec.format))
        #expect(!ImageDecoder.supportedFormats.contains(codec.format))
        #expect(!ImageDecoder.unregister(codec.format) && !ImageDecoder.unregister(.png))
        network.respond(to: "https://example.org/a.seven", with: .bytes(file))
        let error = await #expect(throws: EideticError.self) {
            try await ImagePipeline.fake(over: network).image(for: "https://example.org/a.seven")
        }
        #expect(error?.code == .notAnImage)
        ImageDecoder.register(codec)
        #expect(throws: Never.self) { try ImageDecoder.decode(file) }
    }

    @Test("L27 a registered codec encodes in its format, within the largest size, and one without an encoder says so")
    func encodes() throws {
        let codec = GreyCodec(name: "written")
        ImageDecoder.register(codec)
        let image = try ImageDecoder.decode(codec.file(side: 8))
        #expect(try image.encoded(as: codec.format) == codec.file(side: 8))
        var options = EncodeOptions()
        options.maximumSize = PixelSize(width: 4, height: 9)
        #expect(try ImageEncoder.encode(image, as: codec.format, options: options) == codec.file(side: 4))
        let count = codec.file(side: 4).count
        options.maximumByteCount = ByteCount(count)
        #expect(throws: Never.self) { try ImageEncoder.encode(image, as: codec.format, options: options) }
        options.maximumByteCount = ByteCount(count - 1)
        let excess = #expect(throws: EideticError.self) {
            try ImageEncoder.encode(image, as: codec.format, options: options)
        }
        #expect(excess?.code == .encodingFailed && excess?.message.contains("\(count - 1) bytes") == true)
        let reader = WrongCodec(kind: 7)
        ImageDecoder.register(reader)
        let error = #expect(throws: EideticError.self) { try image.encoded(as: reader.format) }
        #expect(error?.code == .unsupportedFormat && error?.message.contains("decodes only") == true)
        ImageDecoder.unregister(codec.format)
        #expect(throws: EideticError.self) { try image.encoded(as: codec.format) }
    }

    @Test("L27 every truncation of a file fails as an error of the codec, and none is shown")
    func truncations() {
        let codec = GreyCodec(name: "three"), file = codec.file(side: 3)
        ImageDecoder.register(codec)
        for count in file.indices {
            #expect(throws: EideticError.self) { try ImageDecoder.decode(Array(file.prefix(count))) }
        }
        #expect(throws: Never.self) { try ImageDecoder.decode(file) }
    }

    @Test("L27 the limits hold for a user's codec before its pixels are decoded", arguments: [-1, 0, 1])
    func limits(_ excess: Int) {
        let codec = GreyCodec(name: "four")
        ImageDecoder.register(codec)
        var limits = DecodeLimits.standard
        limits.pixels = 10 * 10 - excess
        let error = Result { try ImageDecoder.decode(codec.file(side: 10), limits: limits) }.error as? EideticError
        #expect(error?.code == (excess > 0 ? .limitExceeded : nil))
    }

    @Test("L27 a codec that returns other frames than it announces fails as corrupt", arguments: [0, 2, 3, 5])
    func wrongFrames(_ side: Int) {
        let codec = GreyCodec(name: "five\(side)", returnedSide: side)
        ImageDecoder.register(codec)
        let error = #expect(throws: EideticError.self) { try ImageDecoder.decode(codec.file(side: 4)) }
        #expect(error?.code == .corrupt)
    }

    @Test("L27 a header without frames, of another format or without a size fails as corrupt", arguments: 0...3)
    func wrongHeaders(_ kind: Int) {
        let codec = WrongCodec(kind: kind)
        ImageDecoder.register(codec)
        var options = DecodeOptions()
        options.frames = .all
        let error = #expect(throws: EideticError.self) {
            try ImageDecoder.decode(codec.signatures[0] + [1, 2, 3], options: options)
        }
        #expect(error?.code == .corrupt)
    }

    @Test("L12 L27 a codec that never ends does not delay images of other formats")
    func endless() async throws {
        let codec = EndlessCodec(), network = FakeNetwork()
        ImageDecoder.register(codec)
        let pipeline = ImagePipeline.fake(over: network) { $0.maximumConcurrentDecodes = 2 }
        let urls = ["https://example.org/1.endless", "https://example.org/2.endless"]
        for url in urls { network.respond(to: url, with: .bytes(codec.signatures[0] + [1])) }
        network.respond(to: "https://example.org/a.png", with: .image(size: PixelSize(width: 4, height: 3)))
        let tasks = urls.map { pipeline.task(for: ImageRequest($0)) }
        var starts = codec.starts.stream.makeAsyncIterator()
        for _ in urls { await starts.next() }
        #expect(try await pipeline.image(for: ImageRequest("https://example.org/a.png")).size.width == 4)
        for _ in urls { codec.end.signal() }
        for task in tasks { await #expect(throws: EideticError.self) { try await task.image } }
    }

    @Test("L27 formats of one name are the same, and those of the package keep their names")
    func formats() {
        let one = ImageFormat(name: "six", mimeType: "image/x-six"), two = ImageFormat(name: "six", mimeType: "a/b")
        #expect(one == two)
        #expect(two.mimeType == "image/x-six")
        #expect(one.fileExtension == "six")
        #expect(ImageFormat.allCases.map(\.rawValue).contains("jpegxl"))
        #expect(ImageFormat.jpeg.fileExtension == "jpg")
    }
}

/// A codec whose header is wrong: no frames, another format, or no size.
private struct WrongCodec: ImageCodecPlugin {
    let kind: Int
    var format: ImageFormat { ImageFormat(name: "wrong\(kind)", mimeType: "image/x-wrong\(kind)") }
    var signatures: [[UInt8]] { [Array("WRONG\(kind)\n".utf8)] }

    func header(of bytes: Span<UInt8>) throws(EideticError) -> ImageHeader? {
        let size = PixelSize(width: kind == 3 ? 0 : 2, height: 2)
        return ImageHeader(
            format: kind == 2 ? .svg : format,
            size: size,
            frameCount: kind == 0 ? 0 : kind == 1 ? -1 : 1
        )
    }

    func decode(_ bytes: Span<UInt8>, for task: ImageCodecTask) throws(EideticError) -> [Image.Frame] { [] }
}

/// A codec that decodes until it is told to end, and never checks for its cancellation.
private struct EndlessCodec: ImageCodecPlugin {
    let starts = AsyncStream<Void>.makeStream()
    let end = DispatchSemaphore(value: 0)
    let format = ImageFormat(name: "endless", mimeType: "image/x-endless")
    let signatures = [Array("ENDLESS\n".utf8)]

    func header(of bytes: Span<UInt8>) throws(EideticError) -> ImageHeader? {
        ImageHeader(format: format, size: PixelSize(width: 1, height: 1))
    }

    func decode(_ bytes: Span<UInt8>, for task: ImageCodecTask) throws(EideticError) -> [Image.Frame] {
        starts.continuation.yield()
        end.wait()
        return []
    }
}

/// Grey squares: a signature, a byte for the side, a byte for each pixel.
private struct GreyCodec: ImageCodecPlugin {
    let format: ImageFormat
    let signatures: [[UInt8]]
    var returnedSide: Int?

    init(name: String, returnedSide: Int? = nil) {
        format = ImageFormat(name: name, mimeType: "image/x-\(name)")
        signatures = [Array("GREY \(name)\n".utf8)]
        self.returnedSide = returnedSide
    }

    func file(side: Int) -> [UInt8] { signatures[0] + [UInt8(side)] + Array(repeating: 255, count: side * side) }

    func header(of bytes: Span<UInt8>) throws(EideticError) -> ImageHeader? {
        let start = signatures[0].count
        guard bytes.count > start else { return nil }
        return ImageHeader(format: format, size: PixelSize(width: Int(bytes[start]), height: Int(bytes[start])))
    }

    func decode(_ bytes: Span<UInt8>, for task: ImageCodecTask) throws(EideticError) -> [Image.Frame] {
        try task.checkpoint()
        let start = signatures[0].count + 1, side = returnedSide ?? task.header.size.width
        guard bytes.count >= start + task.header.size.pixelCount else {
            throw EideticError(.truncated, message: "\(format): pixels are missing")
        }
        guard side > 0 else { return [] }
        let pixels = try PixelBuffer(size: PixelSize(width: side, height: side), alpha: .opaque) { target, _ in
            for index in target.indices { target[index] = index % 4 == 3 ? 255 : 128 }
        }
        return [Image.Frame(pixels: pixels)]
    }

    func encode(_ image: Image, options: EncodeOptions) throws(EideticError) -> [UInt8] { file(side: image.size.width) }
}

extension Result {
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
