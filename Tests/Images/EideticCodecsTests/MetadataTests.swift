import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("Metadata", .timeLimit(.minutes(5)))
struct MetadataTests {
    private static let formats: [ImageFormat] = [.jpeg, .png, .webp, .avif, .heic].filter {
        ImageEncoder.supportedFormats.contains($0)
    }

    /// An EXIF block, little-endian, with an orientation and a text.
    private static func exif(orientation: UInt8) -> [UInt8] {
        let head = Array("II".utf8) + [42, 0, 8, 0, 0, 0, 2, 0]
        let camera: [UInt8] = [0x0f, 1, 2, 0, 4, 0, 0, 0] + Array("Cam\0".utf8)
        return head + camera + [0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0] + [0, 0, 0, 0]
    }

    private static let xmp = Array("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><a>\u{e9}</a></x:xmpmeta>".utf8)

    private func encode(_ metadata: ImageMetadata?, as format: ImageFormat, isAnimated: Bool = false) throws -> [UInt8]
    {
        var options = EncodeOptions()
        options.metadata = metadata
        let pixels = try [3, 90].map { try TestImages.solid(width: 16, height: 16, colour: [$0, 40, 90, 255]) }
        let image =
            isAnimated
            ? TestImages.makeImage(pixels[0], pixels[1], milliseconds: [20, 20]) : TestImages.makeImage(pixels[0])
        return try ImageEncoder.encode(image, as: format, options: options)
    }

    @Test(
        "F05 metadata that are asked for are in the file, with an upright orientation",
        arguments: formats,
        [false, true]
    )
    func kept(format: ImageFormat, isAnimated: Bool) throws {
        // More than one segment of a JPEG.
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2) + [UInt8](repeating: 7, count: 70_000)
        let metadata = ImageMetadata(exif: Self.exif(orientation: 6), xmp: Self.xmp, iccProfile: profile)
        let bytes = try encode(metadata, as: format, isAnimated: isAnimated)
        let result = try ImageMetadata(of: bytes)
        #expect(result.exif == Self.exif(orientation: 1) && result.xmp == Self.xmp && result.iccProfile == profile)
        let header = try #require(try ImageDecoder.header(of: bytes))
        #expect(header.size == PixelSize(width: 16, height: 16) && header.orientation == .up)
        #expect(header.frameCount == (isAnimated && ImageEncoder.animatedFormats.contains(format) ? 2 : 1))
    }

    @Test("F05 the profile that is written belongs to the pixels", arguments: formats) func profile(format: ImageFormat)
        throws
    {
        let metadata = ImageMetadata(iccProfile: TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2))
        let pixel = try ImageDecoder.decode(try encode(metadata, as: format)).pixels[8, 8]
        #expect(pixel.x > pixel.y, "\(pixel)")
    }

    @Test("F05 there are no metadata by default", arguments: formats) func stripped(format: ImageFormat) throws {
        let metadata = try ImageMetadata(of: try encode(nil, as: format))
        #expect(metadata == ImageMetadata())
    }

    @Test("F05 the orientation of a big-endian block becomes upright, and other blocks stay as they are")
    func blocks() throws {
        let big = Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0]
        var upright = big
        upright[19] = 1
        let blocks: [([UInt8], [UInt8])] = [
            (big, upright), (upright, upright), (Array(big.prefix(15)), Array(big.prefix(15))),
            ([1, 2, 3], [1, 2, 3]),
        ]
        for (block, expected) in blocks {
            let bytes = try encode(ImageMetadata(exif: block), as: .png)
            #expect(try ImageMetadata(of: bytes).exif == expected)
        }
    }

    @Test("F05 a block that does not fit into a segment of JPEG is an error", arguments: [65_527, 65_528])
    func segmentLimit(count: Int) throws {
        let metadata = ImageMetadata(exif: [UInt8](repeating: 1, count: count))
        let code = errorCode { () throws(EideticError) in
            do { _ = try encode(metadata, as: .jpeg) } catch let error as EideticError { throw error } catch {}
        }
        #expect(code == (count == 65_527 ? nil : .encodingFailed))
    }

    @Test("F05 the metadata of files of other programs are read", .needsCorpus) func foreign() throws {
        let photo = try ImageMetadata(of: try Corpus.bytes(of: "exif-orientation/Landscape_6.jpg"))
        #expect(
            photo.exif?.starts(with: Array("MM\0*".utf8)) == true
                || photo.exif?.starts(with: Array("II*\0".utf8)) == true
        )
        let damaged = try ImageMetadata(
            of: Array(try Fixture.encode(TestImages.photo(width: 9, height: 9), as: .png).prefix(60))
        )
        #expect(damaged == ImageMetadata())
    }
}
