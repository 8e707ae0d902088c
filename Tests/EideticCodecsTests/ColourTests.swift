import EideticCodecs
import EideticCore
import Testing

@Suite("Colours", .timeLimit(.minutes(5)))
struct ColourTests {
    /// A PNG of one colour with a profile.
    private static func png(colour: [UInt8], profile: [UInt8]) -> [UInt8] {
        var png = PNGWriter(width: 4, height: 4, colorType: colour.count == 1 ? 0 : colour.count == 4 ? 6 : 2)
        png.addChunk("iCCP", content: Array("test\0\0".utf8) + PNGWriter.zlibStream(of: profile))
        png.addPixels(APNGFixtures.rows(width: 4, height: 4, colour: colour))
        return png.finished
    }

    private func decodedPixel(of bytes: [UInt8], convertingColours: Bool = true) throws -> SIMD4<UInt8> {
        let options = DecodeOptions.with {
            $0.convertsToSRGB = convertingColours; $0.premultipliesAlpha = false
        }
        return try ImageDecoder.decode(bytes, options: options).pixels[1, 1]
    }

    @Test("F02 an embedded profile is converted to sRGB, and left alone where that is asked for") func converted()
        throws
    {
        // The profile calls sRGB's green primary its red one, and the other way round.
        let bytes = Self.png(colour: [250, 40, 90, 77], profile: TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2))
        let pixel = try decodedPixel(of: bytes)
        #expect(pixel.y > 240 && pixel.x < 60 && pixel.w == 77)
        #expect(try decodedPixel(of: bytes, convertingColours: false) == SIMD4(250, 40, 90, 77))
    }

    @Test("F02 the profile's transfer curve counts") func gamma() throws {
        let bytes = Self.png(colour: [128, 128, 128], profile: TestProfile.rgb(swapsRedAndGreen: false, gamma: 1))
        let pixel = try decodedPixel(of: bytes)
        // Half the light is 188 in sRGB.
        #expect(abs(Int(pixel.x) - 188) <= 1 && pixel.x == pixel.y && pixel.y == pixel.z)
    }

    @Test("F02 inks with a profile become opaque colours") func inks() throws {
        let none: [UInt8] = [0, 0, 0, 0], black: [UInt8] = [0, 0, 0, 255]
        let strip = (0..<32).flatMap { $0 < 16 ? none : black }
        var tiff = TIFFWriter(
            width: 4,
            height: 8,
            bits: 8,
            samples: 4,
            photometric: 5,
            compression: 1,
            strip: strip
        )
        tiff.add(tag: 34_675, bytes: TestProfile.inks)
        for premultiplies in [false, true] {
            let options = DecodeOptions.with { $0.premultipliesAlpha = premultiplies }
            let pixels = try ImageDecoder.decode(tiff.finished, options: options).pixels
            #expect(pixels.bytes.enumerated().allSatisfy { $0.offset % 4 != 3 || $0.element == 255 })
            #expect(pixels[1, 1].x > 250 && pixels[1, 6].x < 5)
        }
    }

    @Test("F02 a broken profile, or one of other channels, changes nothing") func broken() throws {
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2)
        #expect(
            try decodedPixel(of: Self.png(colour: [10, 20, 30], profile: Array(profile.prefix(200))))
                == SIMD4(10, 20, 30, 255)
        )
        var cmyk = profile
        cmyk.replaceSubrange(16..<20, with: Array("CMYK".utf8))
        #expect(try decodedPixel(of: Self.png(colour: [10, 20, 30], profile: cmyk)) == SIMD4(10, 20, 30, 255))
    }
}

/// Small colour profiles of version 2: three primaries and a power for all channels.
enum TestProfile {
    static func rgb(swapsRedAndGreen: Bool, gamma: Double) -> [UInt8] {
        let red = [0.4361, 0.2225, 0.0139], green = [0.3851, 0.7169, 0.0971], blue = [0.1431, 0.0606, 0.7141]
        let curve = Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 1] + bigEndian(Int(gamma * 256), byteCount: 2)
        return makeProfile(tags: [
            ("rXYZ", xyzTag(swapsRedAndGreen ? green : red)), ("gXYZ", xyzTag(swapsRedAndGreen ? red : green)),
            ("bXYZ", xyzTag(blue)), ("wtpt", xyzTag([0.9642, 1, 0.8249])),
            ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
        ])
    }

    /// Four inks by a table of two steps each: white without ink, black with any.
    static var inks: [UInt8] {
        let ramp = (0...255).map { UInt8($0) }
        let colours = (0..<16).flatMap { [$0 == 0 ? 255 : 0, 128, 128] as [UInt8] }
        let matrix = (0..<9).flatMap { bigEndian($0 % 4 == 0 ? 65_536 : 0, byteCount: 4) }
        let inputs = (0..<4).flatMap { _ in ramp }, outputs = (0..<3).flatMap { _ in ramp }
        let table = Array("mft1".utf8) + [0, 0, 0, 0, 4, 3, 2, 0] + matrix + inputs + colours + outputs
        return makeProfile(
            tags: [("A2B0", table), ("wtpt", xyzTag([0.9642, 1, 0.8249]))],
            from: "CMYK",
            to: "Lab ",
            class: "prtr"
        )
    }

    private static func makeProfile(
        tags: [(String, [UInt8])],
        from space: String = "RGB ",
        to connection: String = "XYZ ",
        class kind: String = "mntr"
    ) -> [UInt8] {
        var table = bigEndian(tags.count, byteCount: 4), data: [UInt8] = []
        let start = 128 + 4 + 12 * tags.count
        for (name, content) in tags {
            table +=
                Array(name.utf8) + bigEndian(start + data.count, byteCount: 4) + bigEndian(content.count, byteCount: 4)
            data += content + Array(repeating: 0, count: -content.count & 3)
        }
        var head = [UInt8](repeating: 0, count: 128)
        for (offset, text) in [(12, kind), (16, space), (20, connection), (36, "acsp")] {
            head.replaceSubrange(offset..<offset + 4, with: Array(text.utf8))
        }
        head.replaceSubrange(0..<4, with: bigEndian(start + data.count, byteCount: 4))
        head.replaceSubrange(8..<12, with: [2, 0x10, 0, 0])
        head.replaceSubrange(68..<80, with: Array(xyzTag([0.9642, 1, 0.8249]).dropFirst(8)))
        return head + table + data
    }

    private static func xyzTag(_ values: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + [0, 0, 0, 0] + values.flatMap { bigEndian(Int($0 * 65_536), byteCount: 4) }
    }

    private static func bigEndian(_ value: Int, byteCount count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
