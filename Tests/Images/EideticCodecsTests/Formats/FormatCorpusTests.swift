import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

private let formats = ImageDecoder.supportedFormats

@Suite("Formats against the corpus", .needsCorpus)
struct FormatCorpusTests {
    /// A frame without a transparent colour that covers a part of its canvas.
    ///
    /// Pillow and libvips, whose pixels the corpus has, fill the rest with black; browsers, gdk-pixbuf and ImageMagick
    /// leave it transparent, as Eidetic does.
    private static let partlyCovered =
        "fuzz-afl/gif_im/edges-only/images/id_000899_src_000633_op_flip1_pos_40.gif"

    /// Samples that libtiff's RGBA reader does not convert, and lossless JPEG.
    private static let unsupported: Set = [
        "image-tiff/images/seq/seq-1c-14b-e883657f.tiff", "image-tiff/images/seq/seq-1c-5b-73098d17.tiff",
        "image-tiff/images/seq/seq-3c-12b-planar-e29e8e25.tiff",
        "image-tiff/images/seq/seq-3c-14b-contig-f4dcc6cc.tiff", "image-tiff/images/seq/seq-3c-32f-9a471c2b.tiff",
        "image-tiff/images/seq/seq-3c-5b-contig-09f197f4.tiff",
        "imagers-image/images/tiff/testsuite/rgb32f_color.tiff",
        "jpeg-decoder/reftest/images/lossless/1/jpeg_lossless_sel1.jpg",
        "jpeg-decoder/reftest/images/lossless/1/jpeg_lossless_sel3.jpg",
        "libgd/tiff/tiff-conformance/valid/12bit.cropped.tiff",
        "libgd/tiff/tiff-conformance/valid/gradient-1c-32b.tiff",
        "libgd/tiff/tiff-conformance/valid/gradient-3c-32b.tiff",
        "libtiffpic/libtiffpic/depth/flower-minisblack-32.tif", "libtiffpic/libtiffpic/depth/flower-rgb-contig-10.tif",
        "libtiffpic/libtiffpic/depth/flower-rgb-contig-12.tif", "libtiffpic/libtiffpic/depth/flower-rgb-planar-02.tif",
    ]

    /// Fax codes that libtiff 4.5.0 of Debian 12 reads wrongly: rows of many short runs, and group 3 without the codes
    /// of line ends.
    private static let faults: Set = [
        "libgd/tiff/tiff-conformance/valid/testfax3_bug_513.tiff",
        "twelvemonkeys/tiff/incorrect-compression-rle-as-g3.tif",
    ]

    /// Files of which browsers show another image than most libraries, with the first pixel: the only frame of an
    /// animation, not the default image beside it; of icons of one size, that with most bits per pixel; a first frame
    /// beyond the screen of a GIF; an alpha that does not state the rotation of its colours.
    private static let shownOtherwise: [String: SIMD4<UInt8>] = [
        "pillow/apng/single_frame_default.png": [0, 255, 0, 255],
        "imagers-image/images/ico/images/multiple_entries_with_different_bit_depth.ico": [2, 2, 4, 255],
        "imagers-image/images/gif/simple/issue_1455_oversized.gif": [0, 0, 0, 0],
        "fuzz-afl/gif_im/full/images/id_000798_src_000447_op_flip2_pos_40.gif": [0, 0, 0, 0],
        "libavif/data/clop_irot_imor.avif": [0, 132, 0, 64],
        "bmpsuite/bmp/bmpsuite/questionable/rgb16-3103.bmp": [255, 0, 0, 255],
        "bmpsuite/bmp/bmpsuite/questionable/rgba32-1010102.bmp": [255, 0, 0, 255],
        "imagers-image/images/bmp/images/V3_X4_R4_G4_B4.bmp": [255, 0, 0, 255],
        "imagers-image/images/bmp/images/V5_A8_R8_G8_B8_Rgb.bmp": [255, 0, 0, 255],
        "pillow/apng/sequence_gap.png": [255, 0, 0, 255], "pillow/apng/sequence_reorder.png": [255, 0, 0, 255],
    ]

    @Test("F02 what browsers show otherwise than libraries is shown as in Chromium 156")
    func shownAsInBrowsers() throws {
        for (name, corner) in Self.shownOtherwise {
            let pixel = try ImageDecoder.decode(try Corpus.bytes(of: name), options: .stored).pixels[0, 0]
            #expect((0..<4).allSatisfy { abs(Int(pixel[$0]) - Int(corner[$0])) <= 2 }, "\(name): \(pixel)")
        }
    }

    @Test(
        "F02 samples and codes that the libraries leave out are refused by name",
        arguments: GroundTruth.files(of: formats, kinds: ["wellformed"]).filter { unsupported.contains($0.path) }
    )
    func refusesUnsupported(_ truth: GroundTruth) throws {
        let bytes = try Corpus.bytes(of: truth.path)
        let error = #expect(throws: EideticError.self) { try ImageDecoder.decode(bytes) }
        #expect(error?.code == .unsupportedFormat)
        #expect(error?.message.contains("bits per sample") == true || error?.message.contains("lossless JPEG") == true)
    }

    @Test(
        "F02 an image has the pixels of other decoders",
        arguments: GroundTruth.files(of: formats, kinds: ["wellformed"]).filter {
            ($0.size?.pixelCount ?? 0) < 1 << 19 && $0.path != partlyCovered
                && !unsupported.union(faults).contains($0.path) && shownOtherwise[$0.path] == nil
        }
    )
    func looksRight(_ truth: GroundTruth) throws {
        let bytes = try Corpus.bytes(of: truth.path)
        let image = try ImageDecoder.decode(bytes, options: .stored)
        #expect(image.size == truth.size)
        #expect(maximumDifference(cellMeans(of: image.pixels), hexadecimal: truth.grid ?? "") <= truth.tolerance ?? 2)
    }

    @Test("F07 a malformed image is an error", arguments: GroundTruth.files(of: formats, kinds: ["malformed"]))
    func refusesMalformed(_ truth: GroundTruth) throws {
        let bytes = try Corpus.bytes(of: truth.path)
        #expect(throws: EideticError.self) { _ = try ImageDecoder.decode(bytes) }
    }

    @Test(
        "F07 a damaged image is an error, or has its declared size",
        arguments: GroundTruth.files(of: formats, kinds: ["damaged", "bomb", "disputed", "single", "unsupported"])
    )
    func survivesDamage(_ truth: GroundTruth) throws {
        let bytes = try Corpus.bytes(of: truth.path)
        do throws(EideticError) {
            let image = try ImageDecoder.decode(bytes, options: .stored)
            #expect(truth.size == nil || truth.kind == "bomb" || image.size == truth.size)
        } catch {
            #expect(!error.message.isEmpty && error.code != .cancelled)
        }
    }

    @Test(
        "F04 an image is decoded to the target size",
        arguments: GroundTruth.files(of: formats, kinds: ["wellformed"]).filter {
            ($0.size?.pixelCount ?? 0) < 1 << 19 && !unsupported.contains($0.path)
        }
    )
    func decodesToSize(_ truth: GroundTruth) throws {
        let bytes = try Corpus.bytes(of: truth.path)
        let header = try #require(try ImageDecoder.header(of: bytes))
        let targetSize = PixelSize(width: 24, height: 24)
        var options = DecodeOptions()
        options.size = targetSize
        let image = try ImageDecoder.decode(bytes, options: options)
        #expect(image.size == header.uprightSize.scaled(to: targetSize, mode: .fit))
        #expect(image.sourceSize == header.uprightSize)
    }

    @Test("F02 a JPEG with arithmetic coding has the pixels of other decoders")
    func arithmetic() throws {
        let truth = try #require(GroundTruth.all.first { $0.path == "libjpeg-turbo/testimgari.jpg" })
        let image = try ImageDecoder.decode(try Corpus.bytes(of: truth.path), options: .stored)
        #expect(image.size == PixelSize(width: 227, height: 149))
        let grid = try #require(truth.grid)
        #expect(maximumDifference(cellMeans(of: image.pixels), hexadecimal: grid) <= truth.tolerance ?? 2)
    }

    @Test("F02 the orientation of AVIF and HEIC is applied once, by the codec")
    func turnsOnce() throws {
        guard ImageDecoder.supportedFormats.contains(.avif) else { try Test.cancel("this build does not decode AVIF") }
        let rotated = try Corpus.bytes(of: "av1-avif-microsoft/Microsoft/Ronda_rotate90.avif")
        let header = try #require(try ImageDecoder.header(of: rotated))
        #expect(header.orientation == .up)
        #expect(header.size == PixelSize(width: 1_080, height: 1_920))
    }

    @Test("F02 an AVIF's alpha is used as stored, also beside colours with another rotation")
    func alphaOfAVIF() throws {
        guard ImageDecoder.supportedFormats.contains(.avif) else { try Test.cancel("this build does not decode AVIF") }
        let narrow = try #require(GroundTruth.all.first { $0.path.hasSuffix("/bbb_alpha_inverted.avif") })
        let faint = try ImageDecoder.decode(try Corpus.bytes(of: narrow.path), options: .stored).pixels
        #expect(
            faint.alpha == .straight
                && maximumDifference(cellMeans(of: faint), hexadecimal: narrow.grid ?? "") <= narrow.tolerance ?? 0
        )
        let turned = try Corpus.bytes(of: "libavif/data/abc_color_irot_alpha_irot.avif")
        #expect(try ImageDecoder.header(of: turned)?.hasAlpha == true)
        let foreign = try Corpus.bytes(of: "libavif/data/clop_irot_imor.avif")
        #expect(try ImageDecoder.header(of: foreign)?.hasAlpha == true)
    }

    @Test("F02 an AVIF sequence is decoded to all its frames with their durations")
    func playsSequences() throws {
        guard ImageDecoder.supportedFormats.contains(.avif) else { try Test.cancel("this build does not decode AVIF") }
        let bytes = try Corpus.bytes(of: "libavif/data/colors-animated-8bpc.avif")
        var options = DecodeOptions()
        options.frames = .all
        let image = try ImageDecoder.decode(bytes, options: options)
        #expect(image.frames.count == 5)
        #expect(image.frames.allSatisfy { $0.duration > .zero })
        #expect(image.loopCount == 1, "its edit lasts as long as its track")
    }
}
