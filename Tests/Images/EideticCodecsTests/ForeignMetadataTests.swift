import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

/// Metadata of TIFF and JPEG XL, which become those of the formats that are written, and tags that are chosen by name.
@Suite("Metadata from other formats", .timeLimit(.minutes(1)))
struct ForeignMetadataTests {
    /// Tags with the bytes of their values, by number.
    private typealias Tags = [Int: [UInt8]]

    private static let maker = Array("A maker of cameras\0".utf8)
    private static let packet = Array("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".utf8)

    /// A TIFF structure with a width, a maker, an orientation, XMP, a photograph with a speed and a maker's note, and a
    /// position.
    private static func tiff(isLittle: Bool) -> [UInt8] {
        var writer = ExifWriter(isLittle: isLittle)
        let values = 8 + 2 + 6 * 12 + 4
        let photograph = values + maker.count + 1 + packet.count
        let position = photograph + 2 + 2 * 12 + 4
        writer.addDirectory(
            [
                (0x0100, 3, 1, 640), (0x010f, 2, maker.count, values), (0x0112, 3, 1, 6),
                (700, 1, packet.count, values + maker.count + 1), (0x8769, 4, 1, photograph), (0x8825, 4, 1, position),
            ],
            next: 0
        )
        writer.bytes += maker + [0] + packet
        writer.addDirectory([(0x8827, 3, 1, 400), (0x927c, 7, 8, 8)], next: 0)
        writer.addDirectory([(1, 2, 2, isLittle ? 0x4e : 0x4e00_0000)], next: 0)
        return writer.bytes
    }

    /// Reads a directory of a block.
    private func tags(of block: [UInt8], at offset: Int? = nil) -> Tags {
        let isLittle = block.first == UInt8(ascii: "I")
        func number(_ bytes: ArraySlice<UInt8>) -> Int {
            (isLittle ? Array(bytes.reversed()) : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
        }
        let start = offset ?? number(block[4..<8])
        var tags: Tags = [:]
        for index in 0..<number(block[start..<start + 2]) {
            let entry = start + 2 + 12 * index
            let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 7: 1]
            let size = number(block[(entry + 4)..<(entry + 8)]) * (sizes[number(block[(entry + 2)..<(entry + 4)])] ?? 0)
            let place = size <= 4 ? entry + 8 : number(block[(entry + 8)..<(entry + 12)])
            tags[number(block[entry..<entry + 2])] = Array(block[place..<place + size])
        }
        return tags
    }

    /// Reads the directory that a tag of the first one refers to.
    private func linkedTags(_ link: Int, of block: [UInt8]) -> Tags? {
        tags(of: block)[link].map { value in
            let bytes = block.first == UInt8(ascii: "I") ? value.reversed() : value
            return tags(of: block, at: bytes.reduce(0) { $0 << 8 | Int($1) })
        }
    }

    @Test("F05 tags of a TIFF that describe the image become EXIF, in either order of bytes", arguments: [true, false])
    func fromTIFF(isLittle: Bool) throws {
        let metadata = try ImageMetadata(of: Self.tiff(isLittle: isLittle))
        let exif = try #require(metadata.exif)
        // Neither the width, which the file's own pixels have, nor the packet.
        #expect(Set(tags(of: exif).keys) == [0x010f, 0x0112, 0x8769, 0x8825])
        #expect(tags(of: exif)[0x010f] == Self.maker)
        // A maker's note refers to places of its own file.
        #expect(linkedTags(0x8769, of: exif) == [0x8827: isLittle ? [0x90, 1] : [1, 0x90]])
        #expect(linkedTags(0x8825, of: exif) == [1: [0x4e, 0]])
        #expect(metadata.xmp == Self.packet)
        #expect(metadata.withoutPosition.exif.flatMap { linkedTags(0x8825, of: $0) } == nil)
        // Its own files can be read again.
        var options = EncodeOptions()
        options.metadata = metadata
        let image = TestImages.makeImage(try TestImages.solid(width: 12, height: 8, colour: [9, 40, 90, 255]))
        let written = try ImageMetadata(of: ImageEncoder.encode(image, as: .jpeg, options: options))
        #expect(written.exif.flatMap { tags(of: $0)[0x0112] } == (isLittle ? [1, 0] : [0, 1]))
    }

    @Test("F05 a TIFF whose tags refer to each other, to places outside, or to large values gives small metadata")
    func hostileTIFF() throws {
        var writer = ExifWriter(isLittle: true)
        // The photograph is the first directory; a text behind the end; texts of all bytes, again and again.
        let size = 100_000
        let texts = (0..<900).map { _ in (tag: 0x010e, type: 2, count: 50_000, value: 8) }
        writer.addDirectory([(0x8769, 4, 1, 8), (0x010f, 2, 50, size), (0x0131, 2, .max, 8)] + texts, next: 8)
        writer.bytes += [UInt8](repeating: 65, count: size - writer.bytes.count)
        #expect(try ImageMetadata(of: writer.bytes).exif?.count ?? 0 < 65_000)
        // Small values of as many tags as are read, with one large value.
        var many = ExifWriter(isLittle: true)
        let small = (0..<1_023).map { _ in (tag: 0x0112, type: 3, count: 1, value: 1) }
        many.addDirectory([(0x010e, 2, 50_000, 8), (0x8769, 4, 1, 8)] + small, next: 0)
        many.bytes += [UInt8](repeating: 65, count: size - many.bytes.count)
        #expect(try ImageMetadata(of: many.bytes).exif?.count ?? .max < 65_000)
        #expect(try ImageMetadata(of: Array(writer.bytes.prefix(20))).exif == nil)
    }

    @Test(
        "F05 the metadata in the boxes of a JPEG XL are read",
        .enabled(if: ImageDecoder.supportedFormats.contains(.jpegxl), "skipped: the trait JPEGXL is not enabled")
    )
    func fromJPEGXL() throws {
        let stream = try #require(Fixture.everyFormat.first { $0.format == .jpegxl }?.bytes)
        let exif = Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
            let count = content.count + 8
            return [0, 0, UInt8(count >> 8), UInt8(count & 255)] + Array(type.utf8) + content
        }
        let head = box("JXL ", [0x0d, 0x0a, 0x87, 0x0a]) + box("ftyp", Array("jxl \0\0\0\0jxl ".utf8))
        // The TIFF header of EXIF follows two bytes that are none.
        let boxes = box("Exif", [0, 0, 0, 2, 9, 9] + exif) + box("xml ", Self.packet)
        for file in [head + boxes + box("jxlc", stream), head + box("jxlc", stream) + boxes] {
            let metadata = try ImageMetadata(of: file)
            #expect(metadata.exif == exif && metadata.xmp == Self.packet)
        }
        let cut = try ImageMetadata(of: head + box("jxlc", stream) + boxes.dropLast(4))
        #expect(cut.exif == exif && cut.xmp == nil)
        #expect(try ImageMetadata(of: stream) == ImageMetadata())
    }

    @Test("F05 tags that are chosen are kept with the orientation, and none without them", arguments: [true, false])
    func chosen(isLittle: Bool) throws {
        let metadata = try ImageMetadata(of: Self.tiff(isLittle: isLittle))
        let speed = metadata.keeping(tags: [0x8827], keepsPosition: false)
        let exif = try #require(speed.exif)
        #expect(Set(tags(of: exif).keys) == [0x0112, 0x8769])
        #expect(linkedTags(0x8769, of: exif)?.keys.contains(0x8827) == true)
        #expect(speed.xmp == nil)
        let position = try #require(metadata.keeping(tags: [], keepsPosition: true).exif)
        #expect(Set(tags(of: position).keys) == [0x0112, 0x8825])
        #expect(metadata.keeping(tags: [0x0131], keepsPosition: false) == ImageMetadata())
    }
}
