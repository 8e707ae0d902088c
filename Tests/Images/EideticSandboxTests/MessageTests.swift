import EideticCodecs
import EideticCore
@testable import EideticSandbox
import Testing

@Suite("messages of decoding processes")
struct MessageTests {
    private static var options: DecodeOptions {
        var options = DecodeOptions(size: PixelSize(width: 3, height: 1 << 30))
        (options.contentMode, options.frames) = (.fillCropped(focus: .point(x: -1, y: .infinity)), .all)
        (options.byteLimit, options.scale, options.acceptsPartial) = (ByteCount(7), 2.5, true)
        return options
    }

    private static var keptDecoder: KeptDecoderOptions {
        KeptDecoderOptions(
            kind: .preview,
            number: 1,
            capacity: 2,
            maximumCopyBytes: 3,
            options: options,
            limits: DecodeLimits()
        )
    }

    private static let info = AnimationInfo(
        format: .gif,
        size: PixelSize(width: 2, height: 3),
        sourceSize: PixelSize(width: 4, height: 5),
        durations: [.zero],
        loopCount: nil,
        isComplete: true
    )

    @Test("F07 requests are read as they were written")
    func requests() throws {
        let layout = try #require(ResultLayout(size: PixelSize(width: 2, height: 3), frameCount: 4))
        var limits = DecodeLimits()
        limits.duration = .milliseconds(1)
        let requests: [HelperRequest] = [
            .input(byteCount: 1), .window(byteCount: 2), .header(byteCount: 3, isComplete: true),
            .open(byteCount: 4, options: Self.options, limits: limits, immediateMemory: 14),
            .decode(layout, isInWindow: false),
            .keep(Self.keptDecoder, byteCount: 5, isComplete: true), .extend(6, byteCount: 7, isComplete: false),
            .frame(8, index: 9, layout, isInWindow: true), .release([10, 11]), .metadata(byteCount: 12, capacity: 13),
        ]
        for request in requests {
            #expect(try WireReader.decode(HelperRequest.self, from: WireWriter.encode(request)) == request)
        }
    }

    @Test("F07 replies are read as they were written, and no prefix of one is a reply")
    func replies() throws {
        let layout = try #require(ResultLayout(size: PixelSize(width: 2, height: 3), frameCount: 4))
        let header = ImageHeader(format: .gif, size: layout.size, frameCount: 4, loopCount: nil)
        let result = ResultDescription(
            frameCount: 4,
            loopCount: 1,
            sourceSize: layout.size,
            isPartial: true,
            processorTime: .microseconds(3)
        )
        let replies: [HelperReply] = [
            .ready(HelperDescription(restrictions: [.landlock, .files], formats: ["png"], addressSpace: 5)),
            .failure(.corrupt, message: "reason"), .header(nil), .header(HeaderDescription(header)),
            .opened(HeaderDescription(header), DecodeMemory(working: 6, kept: 5), layout),
            .animation(AnimationDescription(Self.info), DecoderUsage(retainedByteCount: 7, decodedByteCount: 8)),
            .animation(nil, DecoderUsage()), .frame(nil, DecoderUsage()), .frame(result, DecoderUsage()),
            .decoded(result), .decodedAtOnce(HeaderDescription(header), layout, result),
            .metadata(MetadataLayout(ImageMetadata(exif: [1, 2], xmp: nil, iccProfile: []))),
        ]
        for reply in replies {
            let bytes = WireWriter.encode(reply)
            #expect(try WireReader.decode(HelperReply.self, from: bytes) == reply)
            for count in 0..<bytes.count {
                #expect(throws: WireError.self) {
                    try WireReader.decode(HelperReply.self, from: Array(bytes.prefix(count)))
                }
            }
        }
    }

    @Test("F07 layouts beyond any image are none: one below, at, one above")
    func layouts() {
        func layout(width: Int, height: Int = 1, frames: Int = 1) -> ResultLayout? {
            ResultLayout(size: PixelSize(width: width, height: height), frameCount: frames)
        }
        #expect(layout(width: 0) == nil && layout(width: 1, frames: 0) == nil && layout(width: 1)?.byteCount == 20)
        #expect(layout(width: 1, frames: 65_535) != nil && layout(width: 1, frames: 65_536) != nil)
        #expect(layout(width: 1, frames: 65_537) == nil)
        #expect(layout(width: (1 << 30) - 1) != nil && layout(width: 1 << 30) != nil)
        #expect(layout(width: (1 << 30) + 1) == nil)
        #expect(layout(width: 1 << 22, height: 1 << 22, frames: 65_536) != nil)
        #expect(layout(width: 1 << 23, height: 1 << 22) == nil)
        #expect(layout(width: -1, height: -1) == nil && layout(width: .max, height: .max, frames: .max) == nil)
    }
}
