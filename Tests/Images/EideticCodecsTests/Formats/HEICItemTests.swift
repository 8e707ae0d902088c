import EideticCodecs
import EideticCore
import Testing

private let isBuilt = ImageDecoder.supportedFormats.contains(.heic)

@Suite("Items of HEIC", .timeLimit(.minutes(1)), .enabled(if: isBuilt, "this build does not decode HEIC"))
struct HEICItemTests {
    private func decode(_ file: HEIFContainer) throws(EideticError) -> PixelBuffer {
        try ImageDecoder.decode(file.finished, options: .stored).pixels
    }

    /// The coded tile of 64 x 64 pixels in the fixture.
    static let tile: HEIFContainer.Item = {
        let bytes = Fixture.everyFormat.first { $0.format == .heic }?.bytes ?? []
        func box(_ name: String) -> [UInt8] {
            let name = Array(name.utf8)
            guard let start = bytes.indices.dropFirst(4).first(where: { bytes[$0...].starts(with: name) }) else {
                return []
            }
            let length = bytes[start - 4..<start].reduce(0) { $0 << 8 | Int($1) }
            return Array(bytes[start - 4..<start - 4 + length])
        }
        return HEIFContainer.Item(
            type: "hvc1",
            data: Array(box("mdat").dropFirst(8)),
            properties: [box("hvcC"), HEIFContainer.size(64, 64)]
        )
    }()

    /// Returns a file with the tile as item 2.
    private func file(primary: HEIFContainer.Item? = nil, of parts: [Int] = [2]) -> HEIFContainer {
        var file = HEIFContainer(brand: "heic")
        file.add(Self.tile, as: 2)
        file.primaryItem = 2
        guard let primary else { return file }
        file.add(primary, as: 1)
        file.refer("dimg", from: 1, to: parts)
        file.primaryItem = 1
        return file
    }

    /// A gain map beside the image, as today's phones write it: the image that both make (`tmap`), metadata that belong
    /// to several items, and further auxiliary images.
    @Test("F02 the image beside a gain map is shown", arguments: ["heic", "MiHB"])
    func gainMap(brand: String) throws {
        func file(hasGainMap: Bool) -> HEIFContainer {
            var file = HEIFContainer(brand: hasGainMap ? brand : "heic")
            file.add(Self.tile, as: 1)
            guard hasGainMap else { return file }
            for (number, type) in [(2, "urn:com:apple:photo:2020:aux:hdrgainmap"), (3, "urn:mpeg:hevc:2015:auxid:2")] {
                var part = Self.tile
                part.properties.append(HEIFContainer.auxiliary(type))
                file.add(part, as: number)
            }
            file.add(HEIFContainer.Item(type: "tmap", data: [UInt8](repeating: 0, count: 62)), as: 4)
            file.add(HEIFContainer.Item(type: "Exif", data: [0, 0, 0, 0] + Array("MM\0*\0\0\0\u{8}\0\0".utf8)), as: 5)
            file.refer("dimg", from: 4, to: [1, 2])
            file.refer("auxl", from: 2, to: [1, 4])
            file.refer("auxl", from: 3, to: [1])
            file.refer("cdsc", from: 5, to: [1, 4])
            file.refer("thmb", from: 3, to: [4])
            return file
        }
        #expect(try decode(file(hasGainMap: true)).bytes == decode(file(hasGainMap: false)).bytes)
        #expect(try ImageMetadata(of: file(hasGainMap: true).finished).exif?.isEmpty == false)
    }

    /// The image that a gain map makes is the primary one, or an image is made from it.
    @Test("F02 the base of a gain map is shown, also of one that is the primary image") func gainMapFirst() throws {
        var file = HEIFContainer(brand: "heic")
        file.add(Self.tile, as: 1)
        let size = HEIFContainer.size(64, 64)
        file.add(.init(type: "tmap", data: [UInt8](repeating: 0, count: 62), properties: [size]), as: 4)
        file.add(.init(type: "iden", data: [], properties: [size]), as: 5)
        file.refer("dimg", from: 4, to: [1, 1])
        file.refer("dimg", from: 5, to: [4])
        let original = try decode(file).bytes
        for primary in 4...5 {
            file.primaryItem = primary
            #expect(try ImageDecoder.header(of: file.finished)?.size == PixelSize(width: 64, height: 64))
            #expect(try decode(file).bytes == original)
        }
        // Each is made from itself, or from nothing.
        for parts in [[4], [9], []] {
            var endless = HEIFContainer(brand: "heic")
            endless.add(.init(type: "tmap", data: [0], properties: [size]), as: 4)
            endless.refer("dimg", from: 4, to: parts)
            endless.primaryItem = 4
            #expect(throws: EideticError.self) { _ = try decode(endless) }
        }
    }

    @Test("F02 an alpha of several images, which libheif refuses, is not shown, and this is known")
    func ignoredAlpha() throws {
        var file = file()
        var alpha = Self.tile
        alpha.properties.append(HEIFContainer.auxiliary("alpha"))
        file.add(alpha, as: 3)
        file.add(Self.tile, as: 4)
        file.refer("auxl", from: 3, to: [2, 4])
        let header = try #require(try ImageDecoder.header(of: file.finished))
        #expect(!header.hasAlpha && header.ignoresAlpha(of: file.finished))
    }

    /// The decoded tile.
    private func original() throws -> PixelBuffer { try decode(file()) }

    @Test("F02 a coded image within the list of items (idat)") func itemData() throws {
        var tile = Self.tile
        tile.isInItemData = true
        var inside = HEIFContainer(brand: "heic")
        inside.add(tile, as: 1)
        let original = try original()
        #expect(original.size == PixelSize(width: 64, height: 64))
        #expect(try decode(inside).bytes == original.bytes)
    }

    @Test("F02 an image that is another one, rotated and mirrored (iden)") func identity() throws {
        let original = try original()
        let plain = HEIFContainer.Item(type: "iden", data: [], properties: [HEIFContainer.size(64, 64)])
        #expect(try decode(file(primary: plain)).bytes == original.bytes)
        let turned = HEIFContainer.Item(
            type: "iden",
            data: [],
            properties: [HEIFContainer.size(64, 64), HEIFContainer.rotation(1), HEIFContainer.mirroring(1)]
        )
        let pixels = try decode(file(primary: turned))
        let isRight = (0..<64).allSatisfy { y in
            // Anti-clockwise, then left to right.
            (0..<64).allSatisfy { x in pixels[x, y] == original[63 - y, 63 - x] }
        }
        #expect(isRight)
    }

    @Test("F02 the orientation in an EXIF item is not applied: that of HEIC is a property of the image")
    func exif() throws {
        var described = file()
        let data = [0, 0, 0, 0] + OrientationTests.exif(orientation: 6, isLittleEndian: true)
        described.add(HEIFContainer.Item(type: "Exif", data: data, properties: []), as: 3)
        described.refer("cdsc", from: 3, to: [2])
        #expect(try ImageDecoder.header(of: described.finished)?.orientation == .up)
        let image = try ImageDecoder.decode(described.finished), plain = try ImageDecoder.decode(file().finished)
        #expect(image.pixels.bytes == plain.pixels.bytes)
    }

    @Test("F02 the profile of an HEIC is converted to sRGB")
    func profile() throws {
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2)
        var tile = Self.tile
        tile.properties.append(HEIFContainer.box("colr", Array("prof".utf8) + profile))
        var file = HEIFContainer(brand: "heic")
        file.add(tile, as: 1)
        let converted = try ImageDecoder.decode(file.finished).pixels
        let stored = try ImageDecoder.decode(file.finished, options: .with { $0.convertsToSRGB = false }).pixels
        // The profile swaps red and green: what has more red has more green afterwards.
        let sum = (0..<64 * 64).reduce(0) { sum, index in
            let (before, after) = (stored[index % 64, index / 64], converted[index % 64, index / 64])
            return sum + (Int(before.x) - Int(before.y)) * (Int(after.x) - Int(after.y))
        }
        #expect(sum < -1_000_000, "\(sum)")
    }

    /// Returns an overlay on a canvas, with the offsets of its parts.
    private func overlay(width: Int, height: Int, offsets: [(Int, Int)]) -> HEIFContainer.Item {
        let background = [0xffff, 0, 0, 0xffff].flatMap(HEIFContainer.short)
        let data =
            [0, 1] + background + HEIFContainer.long(width) + HEIFContainer.long(height)
            + offsets.flatMap { HEIFContainer.long($0.0 & 0xffff_ffff) + HEIFContainer.long($0.1 & 0xffff_ffff) }
        return HEIFContainer.Item(type: "iovl", data: data, properties: [HEIFContainer.size(width, height)])
    }

    @Test("F02 an image that is made of others on a background (iovl)") func overlays() throws {
        let original = try original()
        let item = overlay(width: 150, height: 80, offsets: [(10, 4), (80, 12)])
        let pixels = try decode(file(primary: item, of: [2, 2]))
        #expect(pixels.size == PixelSize(width: 150, height: 80))
        #expect(pixels[0, 0] == [255, 0, 0, 255] && pixels[149, 79] == [255, 0, 0, 255])
        for (x, y) in [(0, 0), (5, 60), (63, 63)] {
            #expect(pixels[10 + x, 4 + y] == original[x, y])
            #expect(pixels[80 + x, 12 + y] == original[x, y])
        }
    }

    @Test("F07 derived images that refer to themselves, to nothing, or to too many images are errors")
    func hostile() throws {
        let plain = HEIFContainer.Item(type: "iden", data: [], properties: [HEIFContainer.size(64, 64)])
        for parts in [[1], [1, 2], [], [7], [2, 2]] {
            let code = errorCode { () throws(EideticError) in _ = try decode(file(primary: plain, of: parts)) }
            #expect(code != nil, "\(parts)")
        }
        let huge = overlay(width: 1 << 30, height: 1 << 30, offsets: [(0, 0)])
        #expect(throws: EideticError.self) { _ = try decode(file(primary: huge)) }
        let outside = overlay(width: 64, height: 64, offsets: [(Int(Int32.min), Int(Int32.max))])
        // Nothing of the part is on the canvas.
        let empty = try decode(file(primary: outside))
        #expect(empty.size == PixelSize(width: 64, height: 64))
        #expect(Set((0..<64).map { empty[$0, $0] }).count == 1)
    }

    @Test("F07 an image that is made from thousands of others, each from the next one, is an error")
    func deep() throws {
        let plain = HEIFContainer.Item(type: "iden", data: [], properties: [HEIFContainer.size(64, 64)])
        // From the primary image, a chain of six leads to the beginning of the chain before it.
        let starts = (0..<1_000).map { 10 + 6 * $0 }
        var file = file(primary: overlay(width: 64, height: 64, offsets: starts.map { _ in (0, 0) }), of: starts)
        for start in starts {
            for item in start..<start + 6 {
                file.add(plain, as: item)
                let next = item < start + 5 ? item + 1 : start == 10 ? 2 : start - 6
                file.refer("dimg", from: item, to: [next])
            }
        }
        #expect(throws: EideticError.self) { _ = try decode(file) }
    }
}
