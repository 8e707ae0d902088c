import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

/// Files that the library refuses even when complete.
private let rejected: Set<String> = [
    "libavif/data/draw_points_idat_progressive_metasize0.avif", "serenity/jpg/12-bit.jpg",
]

/// The files to truncate, by format.
private let cases: [GroundTruth] = ImageDecoder.supportedFormats.flatMap { format in
    let files = GroundTruth.files(of: [format], kinds: ["wellformed", "single"]).filter { !rejected.contains($0.path) }
        .sorted { $0.bytes < $1.bytes }
    let small = files.filter { $0.bytes < 3_000 && ($0.size?.pixelCount ?? 0) < 1 << 16 }.prefix(
        Torture.repetitions(6, full: 40)
    )
    let large = files.filter { $0.bytes > 8_000 && ($0.size?.pixelCount ?? 0) < 1 << 18 }.prefix(
        Torture.repetitions(1, full: 5)
    )
    return small + large
}

@Suite("Truncated images", .needsCorpus)
struct TruncationTests {
    @Test("F07 an image truncated anywhere is a typed error or partial", arguments: cases)
    func survivesTruncation(_ truth: GroundTruth) throws {
        let bytes = try Corpus.bytes(of: truth.path)
        var parts = 0
        // Every length of a small file, some lengths of a large one.
        let step = bytes.count < 3_000 ? 1 : bytes.count / Torture.repetitions(50, full: 200)
        for count in stride(from: 0, to: bytes.count, by: step) {
            // A separate array, so that the address sanitizer detects a read beyond its end.
            let part = Array(bytes[..<count])
            #expect(throws: Never.self) { try Self.headers(of: part) }
            _ = try Self.decode(part, acceptsPartial: false)
            if try Self.decode(part, acceptsPartial: true)?.isPartial == true { parts += 1 }
        }
        // As documented for `DecodeOptions.acceptsPartial`.
        switch truth.format {
        // A GIF of one pixel has it, or is no image.
        case "gif" where truth.size?.pixelCount == 1: #expect(parts == 0)
        case "jpeg", "png", "gif", "webp", "bmp": #expect(parts > 0)
        case "heif", "svg": #expect(parts == 0)
        default: break
        }
    }

    /// Expects a header, a request for more bytes, or an `EideticError`.
    private static func headers(of part: [UInt8]) throws {
        do throws(EideticError) {
            let early = try ImageDecoder.header(of: part, isComplete: false)
            let late = try ImageDecoder.header(of: part, isComplete: true)
            #expect(late != nil, "a complete file cannot need more bytes")
            if let early { #expect(early.size.isPositive) }
        } catch {
            #expect(!error.message.isEmpty)
        }
    }

    private static func decode(_ part: [UInt8], acceptsPartial: Bool) throws -> Image? {
        var options = DecodeOptions.stored
        options.acceptsPartial = acceptsPartial
        do throws(EideticError) {
            let image = try ImageDecoder.decode(part, options: options)
            #expect(image.isPartial == false || acceptsPartial)
            let pixels = image.pixels, (x, y) = (pixels.size.width - 1, pixels.size.height - 1)
            #expect(pixels.alpha != .opaque || pixels[x, y].w == 255, "a row that is missing is not opaque")
            return image
        } catch {
            let expected: [EideticError.Code] = [
                .truncated, .corrupt, .notAnImage, .unsupportedFormat, .limitExceeded,
            ]
            #expect(expected.contains(error.code), "\(part.count) bytes: \(error)")
            return nil
        }
    }

    @Test("F01 the first bytes give the size of an image", arguments: cases)
    func readsHeaderEarly(_ truth: GroundTruth) throws {
        let bytes = try Corpus.bytes(of: truth.path)
        let fullHeader = try #require(try ImageDecoder.header(of: bytes))
        for count in stride(from: 0, through: bytes.count, by: 1 + bytes.count / 50) {
            guard let early = try? ImageDecoder.header(of: Array(bytes[..<count]), isComplete: false) else { continue }
            #expect(early.size == fullHeader.size && early.orientation == fullHeader.orientation, "at byte \(count)")
        }
    }
}
