import EideticCodecs
import EideticCore
import Testing

/// Faulty and short APNG files.
///
/// The right values are those of Chromium 156.
@Suite("Faults of APNG", .timeLimit(.minutes(1)))
struct APNGFaultTests {
    private static let all = DecodeOptions.with {
        $0.frames = .all; $0.premultipliesAlpha = false
    }

    /// The fault of an animation.
    enum Fault: CaseIterable { case none, sequence, sequenceOfData, position, disposal, moreAnnounced, fewerAnnounced }

    /// Returns six frames of 4 x 4 pixels, whose red is 10, 20, 30, …, behind a blue image or not.
    private static func apng(
        frameCount: Int = 6,
        fault: Fault = .none,
        faultIndex: Int = 5,
        isSeparate: Bool = false
    ) -> [UInt8] {
        var png = PNGWriter(width: 4, height: 4)
        let announced = frameCount + (fault == .moreAnnounced ? 1 : fault == .fewerAnnounced ? -1 : 0)
        png.addChunk("acTL", content: png.bigEndian(announced) + png.bigEndian(0))
        if isSeparate { png.addPixels(APNGFixtures.rows(width: 4, height: 4, colour: [0, 0, 255])) }
        var sequence = 0
        for index in 0..<frameCount {
            let isFaulty = index == faultIndex
            if isFaulty, fault == .sequence { sequence += 7 }
            png.addChunk(
                "fcTL",
                content: APNGFixtures.frameControl(
                    sequence: sequence,
                    width: 4,
                    height: 4,
                    x: isFaulty && fault == .position ? 1 : 0,
                    disposal: isFaulty && fault == .disposal ? 5 : 0
                )
            )
            sequence += 1
            let rows = APNGFixtures.rows(width: 4, height: 4, colour: [UInt8(10 + 10 * index), 0, 0])
            if index == 0, !isSeparate { png.addPixels(rows); continue }
            if isFaulty, fault == .sequenceOfData { sequence += 7 }
            png.addChunk("fdAT", content: png.bigEndian(sequence) + PNGWriter.zlibStream(of: rows))
            sequence += 1
        }
        return png.finished
    }

    @Test(
        "F03 the frames before a fault in an APNG are the animation, whole and in pieces",
        arguments: zip(Fault.allCases, [6, 5, 5, 5, 5, 6, 5])
    )
    func faults(fault: Fault, count: Int) throws {
        let file = Self.apng(fault: fault), expected = (0..<count).map { UInt8(10 + 10 * $0) }
        #expect(try ImageDecoder.header(of: file)?.frameCount == count)
        let image = try ImageDecoder.decode(file, options: Self.all)
        #expect(image.frames.map { $0.pixels[0, 0].x } == expected)
        let half = file.count / 2
        let decoder = try #require(
            try AnimationDecoder(
                Array(file[..<half]),
                isComplete: false,
                options: DecodeOptions(),
                limits: DecodeLimits()
            )
        )
        let info = try decoder.append(Array(file[half...]), isComplete: true)
        #expect(info.frameCount == count && info.isComplete)
        let reds = try (0..<count).map { try decoder.frame(at: $0, context: JobContext())[0, 0].x }
        #expect(reds == expected)
    }

    @Test("F03 the only frame of an APNG is its image, not the default image", arguments: [true, false])
    func onlyFrame(isSeparate: Bool) throws {
        let file = Self.apng(frameCount: 1, isSeparate: isSeparate)
        for options in [DecodeOptions(), Self.all] {
            let image = try ImageDecoder.decode(file, options: options)
            #expect(image.frames.count == 1 && !image.isAnimated && image.pixels[0, 0] == [10, 0, 0, 255])
        }
        let header = try #require(try ImageDecoder.header(of: file))
        #expect(header.frameCount == 1 && header.loopCount == 1 && header.durations.isEmpty)
        // Without its metadata the file would be the default image.
        #expect((OriginalFile.strippedPNG(file) == nil) == isSeparate)
    }

    @Test("F03 the only frame before a fault is the image", arguments: [Fault.sequence, .position])
    func onlyGoodFrame(fault: Fault) throws {
        let file = Self.apng(frameCount: 3, fault: fault, faultIndex: 1, isSeparate: true)
        let image = try ImageDecoder.decode(file, options: DecodeOptions())
        // Chromium 156.
        #expect(!image.isAnimated && image.pixels[0, 0] == [10, 0, 0, 255])
        #expect(OriginalFile.strippedPNG(file) == nil)
    }

    @Test("F03 the still image of an APNG with several frames is its default image") func defaultImage() throws {
        let file = Self.apng(frameCount: 2, isSeparate: true)
        #expect(try ImageDecoder.decode(file, options: DecodeOptions()).pixels[0, 0] == [0, 0, 255, 255])
    }
}
