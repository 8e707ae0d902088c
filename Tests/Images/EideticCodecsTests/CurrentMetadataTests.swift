import EideticCodecs
import EideticCore
import Testing

/// Metadata of a file that do not hold for the one that is encoded.
@Suite("Metadata of another file", .timeLimit(.minutes(1)))
struct CurrentMetadataTests {
    private static let formats: [ImageFormat] = [.jpeg, .png, .webp, .avif, .heic].filter {
        ImageEncoder.supportedFormats.contains($0)
    }

    private static let thumbnail = Array("thumbnail of the whole".utf8)
    private static let place = Array("52 degrees north".utf8)

    /// The orientation, a camera, a position, the size of the photograph, and a thumbnail at the end.
    private static func exif(isLittle: Bool) -> [UInt8] {
        var block = ExifWriter(isLittle: isLittle)
        block.addDirectory(
            [(0x0112, 3, 1, 6), (0x010f, 2, 4, 0x43_61_6d), (0x8769, 4, 1, 62), (0x8825, 4, 1, 92)],
            next: 126
        )
        block.addDirectory([(0xa002, 4, 1, 4_000), (0xa003, 3, 1, 3_000)], next: 0)
        block.addDirectory([(2, 2, place.count, 110)], next: 0)
        block.bytes += place
        block.addDirectory([(0x0201, 4, 1, 156), (0x0202, 4, 1, thumbnail.count)], next: 0)
        block.bytes += thumbnail
        return block.bytes
    }

    private static let xmp = """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
        <rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/" \
        xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:h="http://ns.adobe.com/hdr-gain-map/1.0/" \
        xmlns:Container="http://ns.google.com/photos/1.0/container/" tiff:Orientation="6" tiff:Make='A > B' \
        h:Version="1.0" exif:GPSLatitude="52,0N"><tiff:ImageWidth>4000</tiff:ImageWidth><dc:title>A title</dc:title>\
        <Container:Directory><rdf:Seq><rdf:li Container:Item="Primary"/></rdf:Seq></Container:Directory>\
        <exif:PixelXDimension>4000</exif:PixelXDimension></rdf:Description></rdf:RDF></x:xmpmeta>
        """

    private func encode(_ metadata: ImageMetadata, as format: ImageFormat) throws -> ImageMetadata {
        var options = EncodeOptions()
        options.metadata = metadata
        let pixels = try TestImages.solid(width: 20, height: 30, colour: [9, 40, 90, 255])
        return try ImageMetadata(of: ImageEncoder.encode(TestImages.makeImage(pixels), as: format, options: options))
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: part) }
    }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xff, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
    }

    /// A resource of Photoshop.
    private static func resource(_ number: [UInt8], _ content: [UInt8]) -> [UInt8] {
        Array("8BIM".utf8) + number + [0, 0, 0, 0, 0, UInt8(content.count)] + content
            + (content.count.isMultiple(of: 2) ? [] : [0])
    }

    @Test("F05 a JPEG keeps resolution, comments and IPTC of a JPEG, without the thumbnail beside it")
    func partsOfJPEG() throws {
        let pixels = try TestImages.solid(width: 20, height: 30, colour: [9, 40, 90, 255])
        let plain = try ImageEncoder.encode(TestImages.makeImage(pixels), as: .jpeg)
        let author = Array("an author".utf8)
        var jfif = Array(plain[2..<20])
        // Dots per inch.
        jfif.replaceSubrange(11..<16, with: [1, 1, 44, 1, 44])
        let iptc = Self.resource([4, 12], Self.thumbnail) + Self.resource([4, 4], author)
        let segments = Self.segment(0xed, Array("Photoshop 3.0\0".utf8) + iptc) + Self.segment(0xfe, Self.place)
        let metadata = try ImageMetadata(withPartsOf: [0xff, 0xd8] + jfif + segments + plain[20...])
        #expect(metadata.parts?.names == ["resolution", "IPTC", "comment"])
        var options = EncodeOptions()
        options.metadata = metadata
        let kept = try ImageEncoder.encode(TestImages.makeImage(pixels), as: .jpeg, options: options)
        #expect(kept[13..<18].elementsEqual([1, 1, 44, 1, 44]))
        #expect(contains(kept, author) && contains(kept, Self.place) && !contains(kept, Self.thumbnail))
        #expect(try ImageMetadata(withPartsOf: kept).parts?.names == ["resolution", "IPTC", "comment"])
        #expect(try ImageDecoder.decode(kept).size == PixelSize(width: 20, height: 30))
        options.metadata = metadata.withoutPosition
        let plainer = try ImageEncoder.encode(TestImages.makeImage(pixels), as: .jpeg, options: options)
        #expect(!contains(plainer, author) && !contains(plainer, Self.place))
        options.metadata = metadata
        let other = try ImageEncoder.encode(TestImages.makeImage(pixels), as: .png, options: options)
        #expect(!contains(other, author))
    }

    @Test("F05 a PNG keeps resolution and texts of a PNG, without EXIF in texts") func partsOfPNG() throws {
        var png = PNGWriter(width: 1, height: 1)
        let title = Array("Title\0a title".utf8), density: [UInt8] = [0, 0, 0x2e, 0x23, 0, 0, 0x2e, 0x23, 1]
        png.addChunk("tEXt", content: title)
        png.addChunk("tEXt", content: Array("Raw profile type exif\0".utf8) + Self.place)
        png.addChunk("pHYs", content: density)
        png.addPixels([0, 1, 2, 3])
        var options = EncodeOptions()
        options.metadata = try ImageMetadata(withPartsOf: png.finished)
        #expect(options.metadata?.parts?.names == ["texts", "resolution"])
        let image = try ImageDecoder.decode(png.finished)
        let kept = try ImageEncoder.encode(image, as: .png, options: options)
        #expect(contains(kept, Array("tEXt".utf8) + title) && contains(kept, Array("pHYs".utf8) + density))
        #expect(!contains(kept, Self.place))
        #expect(try ImageDecoder.decode(kept).pixels[0, 0] == [1, 2, 3, 255])
        #expect(try ImageMetadata(withPartsOf: kept).parts == options.metadata?.parts)
        let other = try ImageEncoder.encode(image, as: .jpeg, options: options)
        #expect(!contains(other, title))
    }

    /// Returns a JPEG with a JFIF segment that is too short, and IPTC without padding.
    private static func file(iptc: [UInt8]) throws -> [UInt8] {
        let pixels = try TestImages.solid(width: 2, height: 2, colour: [9, 40, 90, 255])
        let plain = try ImageEncoder.encode(TestImages.makeImage(pixels), as: .jpeg)
        let short = segment(0xe0, Array("JFIF\0".utf8) + [1, 1, 1])
        let length = [UInt8](repeating: 0, count: 2) + [UInt8(iptc.count >> 8), UInt8(iptc.count & 255)]
        let resource = Array("8BIM".utf8) + [4, 4, 0, 0] + length + iptc
        return [0xff, 0xd8] + short + segment(0xed, Array("Photoshop 3.0\0".utf8) + resource) + plain[20...]
    }

    @Test("F05 IPTC as long as a segment holds is kept, and a JFIF segment without a density is none")
    func longestIPTC() throws {
        for length in [1, 65_506, 65_507] {
            let file = try Self.file(iptc: [UInt8](repeating: 65, count: length))
            var options = EncodeOptions()
            options.metadata = try ImageMetadata(withPartsOf: file)
            #expect(options.metadata?.parts?.names == ["IPTC"])
            let kept = try ImageEncoder.encode(ImageDecoder.decode(file), as: .jpeg, options: options)
            #expect(try ImageMetadata(withPartsOf: kept).parts == options.metadata?.parts, "\(length) bytes")
            // Whoever does not ask for them does not pass them on.
            #expect(try ImageMetadata(of: file).parts == nil)
        }
    }

    @Test("F05 a comment behind bytes between segments is kept, and a segment whose length is none is not")
    func bytesBetweenSegments() throws {
        let pixels = try TestImages.solid(width: 2, height: 2, colour: [9, 40, 90, 255])
        let plain = try ImageEncoder.encode(TestImages.makeImage(pixels), as: .jpeg)
        let comment = Self.segment(0xfe, Self.place)
        // As in decoders (ITU-T T.81, B.1.1.2: fill bytes), and libjpeg takes a length below 2 for that of nothing.
        let file = plain[..<20] + [0, 1, 0xff, 0xff] + comment + [0xff, 0xfe, 0, 1] + plain[20...]
        #expect(try ImageMetadata(withPartsOf: Array(file)).parts?.bytes == comment)
        #expect(try ImageDecoder.decode(Array(file)).size == PixelSize(width: 2, height: 2))
    }

    @Test("F05 the preview in IPTC is left out") func previewInIPTC() throws {
        // IPTC-IIM 4.2: by-line, and the preview of the object data.
        let author: [UInt8] = [0x1c, 2, 80, 0, 2, 65, 66]
        let preview: [UInt8] = [0x1c, 2, 202, 0, UInt8(Self.thumbnail.count)] + Self.thumbnail
        let large: [UInt8] = [0x1c, 2, 202, 0x80, 4, 0, 0, 0, UInt8(Self.thumbnail.count)] + Self.thumbnail
        for iptc in [preview + author, author + preview, author + large] {
            let parts = try ImageMetadata(withPartsOf: Self.file(iptc: iptc)).parts?.bytes ?? []
            #expect(contains(parts, author) && !contains(parts, Self.thumbnail))
        }
    }

    @Test("F05 chunks with wrong checksums, and resolutions of oblong pixels, are not kept")
    func partsThatAreWrong() throws {
        var png = PNGWriter(width: 1, height: 1)
        png.addChunk("pHYs", content: [0, 0, 0, 1, 0, 0, 0, 2, 1])
        png.addChunk("pHYs", content: [1])
        png.addChunk("tEXt", content: Array("Title\0a title".utf8))
        png.addPixels([0, 1, 2, 3])
        #expect(try ImageMetadata(withPartsOf: png.finished).parts?.names == ["texts"])
        let place = try #require(png.finished.indices.first { png.finished[$0...].starts(with: Array("a title".utf8)) })
        var damaged = png.finished
        damaged[place] ^= 1
        #expect(try ImageMetadata(withPartsOf: damaged).parts == nil)
    }

    @Test("F05 EXIF has the new size and no thumbnail of the old image", arguments: formats, [false, true])
    func exif(format: ImageFormat, isLittle: Bool) throws {
        let original = Self.exif(isLittle: isLittle)
        #expect(contains(original, Self.thumbnail) && original.count == 178)
        let found = try #require(try encode(ImageMetadata(exif: original), as: format).exif)
        #expect(!contains(found, Self.thumbnail) && contains(found, Self.place))
        var expected = ExifWriter(isLittle: isLittle)
        expected.addDirectory(
            [(0x0112, 3, 1, 1), (0x010f, 2, 4, 0x43_61_6d), (0x8769, 4, 1, 62), (0x8825, 4, 1, 92)],
            next: 0
        )
        expected.addDirectory([(0xa002, 4, 1, 20), (0xa003, 3, 1, 30)], next: 0)
        #expect(found.prefix(92).elementsEqual(expected.bytes))
    }

    @Test("F05 XMP says nothing of the orientation, the size and the gain map of the file it comes from")
    func xmpProperties() throws {
        for format in Self.formats {
            let bytes = try #require(try encode(ImageMetadata(xmp: Array(Self.xmp.utf8)), as: format).xmp)
            let text = String(decoding: bytes, as: UTF8.self)
            for part in ["Orientation", "ImageWidth", "h:Version", "Directory", "PixelXDimension", "Primary"] {
                #expect(!text.contains(part), "\(part) in \(format)")
            }
            for part in ["tiff:Make='A > B'", "<dc:title>A title</dc:title>", "exif:GPSLatitude", "</x:xmpmeta>"] {
                #expect(text.contains(part), "no \(part) in \(format)")
            }
        }
    }

    @Test(
        "F05 the position is removed from EXIF and XMP with all its values, and nothing else",
        arguments: [false, true]
    )
    func position(isLittle: Bool) throws {
        // As nearly all packets, with a header and a trailer.
        let packet = "<?xpacket begin='' id='a'?>\(Self.xmp)\n<?xpacket end='w'?>"
        let metadata = ImageMetadata(exif: Self.exif(isLittle: isLittle), xmp: Array(packet.utf8)).withoutPosition
        let exif = try #require(metadata.exif), xmp = String(decoding: try #require(metadata.xmp), as: UTF8.self)
        #expect(!contains(exif, Self.place) && contains(exif, Self.thumbnail))
        #expect(!xmp.contains("GPS") && xmp.contains("A title"))
        var expected = ExifWriter(isLittle: isLittle)
        expected.addDirectory([(0x0112, 3, 1, 6), (0x010f, 2, 4, 0x43_61_6d), (0x8769, 4, 1, 62)], next: 126)
        #expect(exif.prefix(50).elementsEqual(expected.bytes))
    }

    @Test(
        "F05 the position is removed from XMP under any name: of makers, and without a prefix",
        arguments: [
            "<a:b xmlns:drone-dji='http://www.dji.com/drone-dji/1.0/' drone-dji:GpsLatitude='+48.1'/>",
            "<a:b xmlns:drone-dji='http://www.dji.com/drone-dji/1.0/' drone-dji:GpsLongtitude='+48.1'/>",
            "<a:b><drone-dji:AbsoluteAltitude>+48.1</drone-dji:AbsoluteAltitude></a:b>",
            "<a:b><GPSLatitude xmlns='http://ns.adobe.com/exif/1.0/'>48.1</GPSLatitude></a:b>",
            "<a:b><Camera:Latitude>48.1</Camera:Latitude></a:b>", "<a:b><gpsPosition>48.1</gpsPosition></a:b>",
        ]
    )
    func positionNames(properties: String) throws {
        let packet = "<x:a xmlns:x='adobe:ns:meta/'><x:kept>yes</x:kept>\(properties)</x:a>"
        let rest = try #require(ImageMetadata(xmp: Array(packet.utf8)).withoutPosition.xmp)
        let text = String(decoding: rest, as: UTF8.self)
        #expect(!text.contains("48.1") && text.contains("<x:kept>yes</x:kept>"), "\(text)")
    }

    @Test("F05 every directory of a position is removed, and one that covers others ends nothing")
    func positionDirectories() throws {
        var two = ExifWriter(isLittle: true)
        two.addDirectory([(0x8825, 4, 1, 56), (0x8825, 4, 1, 56), (0x010f, 2, 4, 0x43_61_6d)], next: 0)
        two.addDirectory([(0, 1, 4, 0x0302), (2, 2, Self.place.count, 86)], next: 0)
        two.bytes += Self.place
        let rest = try #require(ImageMetadata(exif: two.bytes).withoutPosition.exif)
        #expect(!contains(rest, Self.place) && !contains(rest, [0x25, 0x88]))
        // The values of the position cover the block behind its header.
        var covering = ExifWriter(isLittle: true)
        covering.addDirectory([(0x8825, 4, 1, 40)], next: 0)
        covering.bytes += [UInt8](repeating: 0, count: 40 - covering.bytes.count)
        covering.addDirectory([(0, 1, 195, 8)], next: 0)
        covering.bytes += [UInt8](repeating: 0, count: 200 - covering.bytes.count)
        #expect(ImageMetadata(exif: covering.bytes).withoutPosition.exif == nil)
        // A thousand positions, of which each names the same values many times.
        var shared = ExifWriter(isLittle: true)
        shared.addDirectory([(Int, Int, Int, Int)](repeating: (0x8825, 4, 1, 12_302), count: 1_024), next: 0)
        shared.addDirectory([(Int, Int, Int, Int)](repeating: (1, 1, 2_000_000, 30_000), count: 1_024), next: 0)
        shared.bytes += [UInt8](repeating: 1, count: 2_100_000)
        #expect(ImageMetadata(exif: shared.bytes).withoutPosition.exif == nil)
    }

    @Test("F05 a packet that is no XML, and a block that is none, stay as they are") func damaged() throws {
        for text in [
            "<a", "<x:a xmlns:x='http://ns.adobe.com/hdr-gain-map/1.0/'><x:b>", "no tag", "<", "<a b=\"", "a<>",
        ] {
            let xmp = Array(text.utf8)
            #expect(try encode(ImageMetadata(xmp: xmp), as: .png).xmp == xmp, "\(text)")
        }
        let original = Self.exif(isLittle: true)
        for count in 0..<original.count {
            let block = Array(original.prefix(count))
            _ = try encode(ImageMetadata(exif: block), as: .png)
        }
    }

    @Test("F05 what is cut or cannot be read loses its position all the same", arguments: [false, true])
    func cutPosition(isLittle: Bool) {
        let exif = Self.exif(isLittle: isLittle), xmp = Array(Self.xmp.utf8)
        for count in 0...exif.count {
            let rest = ImageMetadata(exif: Array(exif.prefix(count))).withoutPosition.exif ?? []
            #expect(!contains(rest, Self.place), "\(count) bytes")
        }
        for count in 0...xmp.count {
            let rest = ImageMetadata(xmp: Array(xmp.prefix(count))).withoutPosition.xmp ?? []
            #expect(!String(decoding: rest, as: UTF8.self).contains("GPS"), "\(count) bytes")
        }
        let wide = Self.xmp.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        #expect(ImageMetadata(xmp: wide).withoutPosition.xmp == nil)
        #expect(ImageMetadata(exif: [1, 2, 3]).withoutPosition.exif == nil)
    }
}
