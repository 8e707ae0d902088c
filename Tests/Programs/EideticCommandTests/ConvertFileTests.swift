import EideticCodecs
import EideticCore
import EideticTestSupport
import FoundationEssentials
import Testing

/// The parts of a file beside its pixels that `eidetic convert` keeps, and the words for those that it does not.
@Suite("eidetic convert, files", .timeLimit(.minutes(2)))
struct ConvertFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "convert-files") }

    private struct Line: Decodable {
        let output: String?
        let bytes: Int?
        let partial: Bool?
        let lost: [String]?
        let error: String?
    }

    /// A big-endian EXIF block with an orientation.
    private static func exif(orientation: UInt8) -> [UInt8] {
        Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
    }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xff, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
    }

    /// A JPEG with IPTC, a comment, a resolution, EXIF of an orientation, and an image behind its end.
    private func photograph(orientation: UInt8 = 6, isCopyrighted: Bool = false) throws -> [UInt8] {
        let flag = Array("8BIM".utf8) + [4, 10, 0, 0, 0, 0, 0, 1, isCopyrighted ? 1 : 0, 0]
        let plain = try TestImages.encoded(as: .jpeg)
        let length = 2 + Int(plain[4]) << 8 + Int(plain[5])
        var jfif = Array(plain[2..<2 + length])
        jfif[11] = 1
        let segments =
            Self.segment(0xe1, Array("Exif\0\0".utf8) + Self.exif(orientation: orientation))
            + Self.segment(0xed, Array("Photoshop 3.0\08BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, 2, 0x1c, 2] + flag)
            + Self.segment(0xfe, Array("secret place".utf8))
            + Self.segment(0xe2, Array("MPF\0".utf8))
        let start: [UInt8] = [0xff, 0xd8], rest = Array(plain[(2 + length)...])
        return start + jfif + segments + rest + plain
    }

    private func line(_ arguments: String...) async throws -> (line: Line, errors: String) {
        let words = ["convert", "--json"] + arguments
        let result = try await Subprocess.run(EideticProgram.path, arguments: words)
        return (try #require(try result.lines(Line.self).first), result.errorText)
    }

    @Test("F05 what a format cannot keep is said on standard error and in JSON", arguments: ["jpg", "gif"])
    func losses(target: String) async throws {
        let source = try directory.write(try photograph(), to: "in.jpg"), output = directory.path(of: "out.\(target)")
        let line = try await line("--metadata", "keep", source, output).line
        let all = ["EXIF", "resolution", "comment", "further images", "IPTC"]
        #expect(line.lost == (target == "gif" ? all : ["further images"]) && line.error == nil)
        let text = try await EideticProgram.run("convert", "--overwrite", "--metadata", "keep", source, output)
        #expect(text.status == .exited(0))
        let name = target == "gif" ? "GIF" : "JPEG"
        #expect(text.errorText.contains("in.jpg: not kept in \(name): \((line.lost ?? []).joined(separator: ", "))"))
        let stripped = try await self.line("--overwrite", "--metadata", "strip", source, output)
        #expect(stripped.line.lost == [] && stripped.errors == "")
    }

    /// An AVIF grid of two tiles, of which one has an alpha.
    private static let partlyTransparent = """
        AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAcdtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRt
        AAAAAAABAAAAUGlsb2MBAAAARAAABAABAAEAAAABAAAAAAAAAAgAAgAAAAAAAQAAAesAAAAsAAMAAAAAAAEAAAIXAAAALAAEAAAAAAABAAAC
        QwAAACwAAABiaWluZgAAAAAABAAAABVpbmZlAgAAAAABAABncmlkAAAAABVpbmZlAgAAAQACAABhdjAxAAAAABVpbmZlAgAAAQADAABhdjAx
        AAAAABVpbmZlAgAAAQAEAABhdjAxAAAAACppcmVmAAAAAAAAABBkaW1nAAEAAgACAAMAAAAOYXV4bAAEAAEAAgAAAKBpcHJwAAAAdGlwY28A
        AAAUaXNwZQAAAAAAAACAAAAAQAAAAAxhdjFDgQAMAAAAABRpc3BlAAAAAAAAAEAAAABAAAAAOGF1eEMAAAAAdXJuOm1wZWc6bXBlZ0I6Y2lj
        cDpzeXN0ZW1zOmF1eGlsaWFyeTphbHBoYQAAAAAkaXBtYQAAAAAAAAAEAAEBAQACAoIDAAMCggMABAOCAwQAAAAQaWRhdAAAAAEAgABAAAAA
        jG1kYXQSAAoJGBV//aICGg0IMh0Ux4eGZQIIIJ5QAAAAwhFo1pV5t8XCY3+qfiOaCBIACgkYFX/9ogIaDQgyHRTHh4ZlAgggnlAAAADCEWjW
        lXm3xcJjf6p+I5oIEgAKCRgVf/2iAhoNCDIdFMeHhmUCCCCeUAAAAMIRaNaVebfFwmN/qn4jmgg=
        """

    @Test("F02 that an alpha is not shown is said by inspect and convert", arguments: ["--sandbox", "--no-sandbox"])
    func ignoredAlpha(place: String) async throws {
        let bytes = try #require(Data(base64Encoded: Self.partlyTransparent, options: .ignoreUnknownCharacters))
        let source = try directory.write(Array(bytes), to: "in.avif")
        let json = try await EideticProgram.run("inspect", place, "--json", source)
        #expect(json.outputText.contains(#""alpha":false,"alpha_ignored":true,"#), "\(json.outputText)")
        let text = try await EideticProgram.run("inspect", place, source)
        #expect(text.outputText.contains("AVIF, 128x64, alpha ignored, "), "\(text.outputText)")
        for policy in ["keep", "strip"] {
            let output = directory.path(of: "\(policy).png")
            let result = try await line(place, "--metadata", policy, source, output)
            #expect(result.line.lost == ["alpha"] && result.line.error == nil, "\(result.errors)")
        }
    }

    @Test("F05 that a copyright flag is not kept beside IPTC is said", arguments: [false, true])
    func copyrightFlag(isSet: Bool) async throws {
        let source = try directory.write(try photograph(isCopyrighted: isSet), to: "in.jpg")
        let line = try await line("--metadata", "keep", source, directory.path(of: "out.jpg")).line
        #expect(line.lost == ["further images"] + (isSet ? ["copyright flag"] : []))
    }

    /// Resources as Photoshop and others write them: one that goes on in the next segment, another before IPTC, with
    /// another signature, and what is none.
    @Test("F05 IPTC in any resources of Photoshop is kept, or said to be lost")
    func resources() async throws {
        let plain = try TestImages.encoded(as: .jpeg), iptc: [UInt8] = [0x1c, 2, 120, 0, 2, 0x48, 0x69]
        func resource(_ number: UInt8, _ content: [UInt8], signature: String = "8BIM") -> [UInt8] {
            let count = (0..<4).reversed().map { UInt8(truncatingIfNeeded: content.count >> (8 * $0)) }
            return Array(signature.utf8) + [4, number, 0, 0] + count + content
                + [UInt8](repeating: 0, count: content.count & 1)
        }
        let large = [UInt8](repeating: 7, count: 70_000)
        let set: [UInt8] = [0x1c, 2, 120, 0x75, 0x30] + large.prefix(30_000)
        let rows: [(resources: [UInt8], isKept: Bool, lost: [String])] = [
            (resource(4, iptc), true, []),
            (resource(1, [1, 2], signature: "MeSa") + resource(4, iptc), true, []),
            (resource(1, large) + resource(4, iptc), true, []),
            (resource(4, set + set + set), false, ["IPTC"]),
            (resource(11, [0x68]), false, ["copyright URL"]),
            (resource(4, iptc) + [1, 2, 3], true, ["Photoshop data"]),
        ]
        for (index, row) in rows.enumerated() {
            let segments = stride(from: 0, to: row.resources.count, by: 65_000).flatMap { start in
                Self.segment(0xed, Array("Photoshop 3.0\0".utf8) + row.resources[start...].prefix(65_000))
            }
            let source = try directory.write(Array(plain[..<2]) + segments + plain[2...], to: "in.jpg")
            let line = try await line("--overwrite", "--metadata", "keep", source, directory.path(of: "out.jpg")).line
            #expect(line.lost ?? [] == row.lost, "\(index)")
            let result = try directory.contents(of: "out.jpg")
            #expect(result.contains(iptc) == row.isKept, "\(index)")
        }
    }

    @Test("F05 an unchanged JPEG without its metadata has the bytes of its pixels, and is as upright as before")
    func lossless() async throws {
        let plain = try TestImages.encoded(as: .jpeg)
        for orientation in [UInt8(1), 6] {
            let source = try directory.write(try photograph(orientation: orientation), to: "in.jpg")
            let target = directory.path(of: "out.jpg")
            _ = try await line("--overwrite", "--metadata", "strip", source, target)
            let bytes = try directory.contents(of: "out.jpg")
            // From the first table to the end of the image.
            let table = try #require(plain.indices.first { plain[$0] == 0xff && plain[$0 + 1] == 0xdb })
            #expect(bytes.suffix(plain.count - table).elementsEqual(plain[table...]))
            #expect(bytes.count < plain.count + 50)
            #expect(try ImageDecoder.header(of: bytes)?.orientation.rawValue == Int(orientation))
            #expect(try ImageMetadata(of: bytes).exif?.count ?? 0 == (orientation == 1 ? 0 : 26))
        }
        // A change of the pixels encodes them again, upright.
        let source = try directory.write(try photograph(), to: "in.jpg")
        _ = try await line(
            "--overwrite",
            "--metadata",
            "strip",
            "--size",
            "20x20",
            source,
            directory.path(of: "out.jpg")
        )
        let header = try #require(try ImageDecoder.header(of: directory.contents(of: "out.jpg")))
        #expect(header.orientation == .up && header.size == PixelSize(width: 15, height: 20))
    }

    @Test("F05 an unchanged PNG is not larger than it was", arguments: ["keep", "strip", "color"])
    func unchangedPNG(policy: String) async throws {
        let source = try directory.write(TestImages.greyPixelPNG, to: "in.png")
        let target = directory.path(of: "out.png")
        let line = try await line("--metadata", policy, source, target).line
        #expect(line.error == nil && line.lost == [])
        #expect(try directory.contents(of: "out.png") == TestImages.greyPixelPNG)
    }

    @Test(
        "F05 XMP that is too large for a JPEG is left out, and that is said",
        arguments: [(65_504, false), (65_505, true)]
    )
    func largePacket(count: Int, isLost: Bool) async throws {
        var options = EncodeOptions()
        options.metadata = ImageMetadata(xmp: [UInt8](repeating: 32, count: count))
        let image = try TestImages.gradient(width: 20, height: 20)
        let source = try directory.write(try ImageEncoder.encode(image, as: .png, options: options), to: "in.png")
        let line = try await line("--metadata", "keep", source, directory.path(of: "out.jpg")).line
        #expect(line.error == nil && line.lost == (isLost ? ["XMP"] : []))
        #expect(try ImageMetadata(of: directory.contents(of: "out.jpg")).xmp?.count == (isLost ? nil : count))
    }

    @Test("F05 --metadata keeps what it names, and an unchanged JPEG its pixels", arguments: ["artist,gps", "no-gps"])
    func named(policy: String) async throws {
        // The orientation, an artist and a position.
        let exif: [UInt8] =
            Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 3]
            + [1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0] + [1, 0x3b, 0, 2, 0, 0, 0, 3, 0x4d, 0x65, 0, 0]
            + [0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 50] + [0, 0, 0, 0]
            + [0, 1, 0, 1, 0, 2, 0, 0, 0, 2, 0x4e, 0, 0, 0, 0, 0, 0, 0]
        let plain = try TestImages.encoded(as: .jpeg), length = 2 + Int(plain[4]) << 8 + Int(plain[5])
        let segment = Self.segment(0xe1, Array("Exif\0\0".utf8) + exif)
        // With a density in dots per inch, which the converted file would not have.
        var start = Array(plain[..<(2 + length)])
        start[13] = 1
        let jpeg = start + segment + plain[(2 + length)...]
        let source = try directory.write(jpeg, to: "in.jpg")
        _ = try await line("--metadata", policy, source, directory.path(of: "out.jpg"))
        let bytes = try directory.contents(of: "out.jpg")
        #expect(bytes.suffix(plain.count - 2 - length).elementsEqual(plain[(2 + length)...]))
        #expect(try ImageDecoder.header(of: bytes)?.orientation.rawValue == 6)
        let output = try await EideticProgram.run("inspect", "--json", directory.path(of: "out.jpg")).outputText
        #expect(output.contains(#""artist":"Me""#))
        let found = try #require(try ImageMetadata(of: bytes).exif)
        let hasPosition = found.indices.dropLast().contains { found[$0] == 0x88 && found[$0 + 1] == 0x25 }
        #expect(hasPosition == (policy != "no-gps"))
        let refused = try await EideticProgram.run("convert", "--metadata", "artist,colour", source, "x.jpg")
        #expect(refused.status == .exited(2) && refused.errorText.contains("copyright"))
    }

    @Test("F05 a PNG that is written is not larger than the one that was read") func palette() async throws {
        let image = try TestImages.image(width: 200, height: 150) { x, y in
            SIMD4(UInt8(x / 25 * 30), UInt8(y / 30 * 40), 90, 255)
        }
        let source = try directory.write(try ImageEncoder.encode(image, as: .png), to: "in.png")
        let target = directory.path(of: "out.png")
        let line = try await line(source, target).line
        let before = try directory.contents(of: "in.png"), after = try directory.contents(of: "out.png")
        #expect(after.count <= before.count && line.bytes == after.count)
        #expect(try ImageDecoder.decode(after).pixels[199, 149] == ImageDecoder.decode(before).pixels[199, 149])
    }

    @Test("F02 a part of a damaged file is converted with --partial, which is said")
    func partial() async throws {
        let png = try TestImages.encoded(as: .png)
        let source = try directory.write(Array(png.prefix(png.count / 2)), to: "in.png")
        let target = directory.path(of: "out.png")
        let refused = try await line(source, target)
        #expect(refused.line.error?.contains("truncated") == true && refused.line.output == nil)
        let line = try await line("--partial", source, target).line
        #expect(line.partial == true && line.error == nil)
        let text = try await EideticProgram.run("convert", "--overwrite", "--partial", source, target)
        #expect(text.status == .exited(0) && text.errorText.contains("in.png: a part of the image is missing"))
    }

    @Test("F05 the position alone is removed with no-gps, and all but the profile with color") func choices()
        async throws
    {
        // A position without entries, then the orientation of an upright image.
        let exif =
            Array("MM\0*".utf8)
            + [0, 0, 0, 8, 0, 2, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 1, 0, 0, 0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 38]
            + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        var options = EncodeOptions()
        options.metadata = ImageMetadata(exif: exif)
        let image = try TestImages.gradient(width: 20, height: 20)
        let source = try directory.write(try ImageEncoder.encode(image, as: .webp, options: options), to: "in.webp")
        for (policy, hasExif, hasPosition) in [("keep", true, true), ("no-gps", true, false), ("color", false, false)] {
            _ = try await line("--overwrite", "--metadata", policy, source, directory.path(of: "out.png"))
            let found = try ImageMetadata(of: directory.contents(of: "out.png")).exif
            #expect((found != nil) == hasExif, "\(policy)")
            let names = found?.indices.dropLast().contains { found?[$0] == 0x88 && found?[$0 + 1] == 0x25 } ?? false
            #expect(names == hasPosition, "\(policy)")
        }
    }
}
