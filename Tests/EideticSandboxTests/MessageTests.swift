import EideticCodecs
import EideticCore
import EideticSandbox
import EideticWire
import Testing

@Suite("messages of decoding processes")
struct MessageTests {
    private static var options: DecodeOptions {
        var options = DecodeOptions(size: PixelSize(width: 3, height: 1 << 30))
        (options.contentMode, options.cropFocus, options.frames) = (.stretch, .point(x: -1, y: .infinity), .all)
        (options.byteLimit, options.scale, options.acceptsPartial) = (ByteCount(7), 2.5, true)
        return options
    }

    @Test("F07 requests are read as they were written")
    func requests() throws {
        let layout = try #require(ResultLayout(size: PixelSize(width: 2, height: 3), frameCount: 4))
        var limits = DecodeLimits()
        limits.duration = .milliseconds(1)
        let requests: [HelperRequest] = [
            .input(byteCount: 1), .window(byteCount: 2), .header(byteCount: 3, isComplete: true),
            .open(byteCount: 4, options: Self.options, limits: limits), .decode(layout, isInWindow: false),
        ]
        for request in requests {
            #expect(try WireReader.decode(HelperRequest.self, from: WireWriter.encode(request)) == request)
        }
    }

    @Test("F07 replies are read as they were written, and no prefix of one is a reply")
    func replies() throws {
        let layout = try #require(ResultLayout(size: PixelSize(width: 2, height: 3), frameCount: 4))
        let header = ImageHeader(format: .gif, size: layout.size, frameCount: 4, loopCount: nil)
        let replies: [HelperReply] = [
            .ready(HelperDescription(restrictions: [.landlock, .files], formats: ["png"], addressSpace: 5)),
            .failure(.corrupt, message: "reason"), .header(nil), .header(HeaderDescription(header)),
            .opened(HeaderDescription(header), workingMemory: 6, layout),
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
        func layout(_ width: Int, _ height: Int, _ count: Int) -> ResultLayout? {
            ResultLayout(size: PixelSize(width: width, height: height), frameCount: count)
        }
        #expect(layout(0, 1, 1) == nil && layout(1, 1, 0) == nil && layout(1, 1, 1)?.byteCount == 20)
        #expect(layout(1, 1, 65_535) != nil && layout(1, 1, 65_536) != nil && layout(1, 1, 65_537) == nil)
        #expect(layout((1 << 30) - 1, 1, 1) != nil && layout(1 << 30, 1, 1) != nil)
        #expect(layout((1 << 30) + 1, 1, 1) == nil)
        #expect(layout(1 << 22, 1 << 22, 65_536) != nil && layout(1 << 23, 1 << 22, 1) == nil)
        #expect(layout(-1, -1, 1) == nil && layout(.max, .max, .max) == nil)
    }
}
