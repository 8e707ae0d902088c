import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

private let isBuilt = ImageDecoder.supportedFormats.contains(.avif) && AV1Image.isAvailable

@Suite("Items of AVIF", .enabled(if: isBuilt, "this build does not decode AVIF, or there is no avifenc"))
struct AVIFItemTests {
    private func decode(_ file: HEIFContainer) throws(EideticError) -> PixelBuffer {
        try ImageDecoder.decode(file.finished, options: .stored).pixels
    }

    /// Returns soft colours that differ at each position and for each `seed`.
    private func gradient(width: Int = 64, height: Int = 64, seed: Int = 0) throws -> PixelBuffer {
        try TestImages.makePixels(width: width, height: height, alpha: .opaque) { x, y in
            [UInt8(x * 255 / width), UInt8(y * 255 / height), UInt8(seed * 60 & 255), 255]
        }
    }

    private func item(_ image: AV1Image, _ properties: [[UInt8]]? = nil, isInItemData: Bool = false)
        -> HEIFContainer.Item
    {
        let size = HEIFContainer.size(image.size.width, image.size.height)
        return HEIFContainer.Item(
            type: "av01",
            data: image.data,
            properties: image.properties + (properties ?? [size]),
            isInItemData: isInItemData
        )
    }

    @Test("F02 the profile of an AVIF is converted to sRGB")
    func profile() async throws {
        let image = try await AV1Image(try TestImages.solid(width: 64, height: 64, colour: [250, 40, 90, 255]))
        let profile = TestProfile.rgb(swapsRedAndGreen: true, gamma: 2.2)
        let properties = image.properties.filter { !$0.dropFirst(4).starts(with: "colr".utf8) }
        let colours = HEIFContainer.box("colr", Array("prof".utf8) + profile)
        var file = HEIFContainer(brand: "avif")
        file.add(
            HEIFContainer.Item(
                type: "av01",
                data: image.data,
                properties: properties + [colours, HEIFContainer.size(64, 64)]
            ),
            as: 1
        )
        let converted = try ImageDecoder.decode(file.finished).pixels[1, 1]
        #expect(converted.y > 235 && converted.x < 70, "\(converted)")
        let stored = try ImageDecoder.decode(file.finished, options: .with { $0.convertsToSRGB = false }).pixels[1, 1]
        #expect(stored.x > 240 && stored.y < 50, "\(stored)")
    }

    /// Returns the pixel of the original at each position of a crop that is rotated, then mirrored.
    private func expected(
        _ original: PixelBuffer,
        crop: (x: Int, y: Int, width: Int, height: Int),
        turns: Int,
        axis: Int?
    ) throws -> PixelBuffer {
        let (width, height) = turns % 2 == 0 ? (crop.width, crop.height) : (crop.height, crop.width)
        return try TestImages.makePixels(width: width, height: height, alpha: .opaque) { x, y in
            var (x, y) = (x, y)
            if axis == 0 { y = height - 1 - y } else if axis == 1 { x = width - 1 - x }
            // The position before a rotation anti-clockwise.
            switch turns {
            case 1: (x, y) = (crop.width - 1 - y, x)
            case 2: (x, y) = (crop.width - 1 - x, crop.height - 1 - y)
            case 3: (x, y) = (y, crop.height - 1 - x)
            default: break
            }
            let pixel = original[crop.x + x, crop.y + y]
            return (0..<4).map { pixel[$0] }
        }
    }

    @Test("F02 crop, rotation and mirroring together", arguments: [0, 1, 2, 3], [nil, 0, 1])
    func transforms(turns: Int, axis: Int?) async throws {
        let original = try gradient(width: 64, height: 48)
        let image = try await AV1Image(original)
        // 20 x 12 pixels at (30, 4); their centre is 8 right of the image's, and 14 above it.
        var properties = [
            HEIFContainer.size(64, 48), HEIFContainer.crop(width: 20, height: 12, x: (8, 1), y: (-14, 1)),
        ]
        if turns > 0 { properties.append(HEIFContainer.rotation(UInt8(turns))) }
        if let axis { properties.append(HEIFContainer.mirroring(UInt8(axis))) }
        var file = HEIFContainer()
        file.add(item(image, properties), as: 1)
        let wanted = try expected(original, crop: (30, 4, 20, 12), turns: turns, axis: axis)
        let pixels = try decode(file)
        #expect(pixels.size == wanted.size && pixels.bytes == wanted.bytes)
        #expect(try ImageDecoder.header(of: file.finished)?.size == wanted.size)
    }

    @Test("F02 a rotated, mirrored and cropped alpha follows its colours", arguments: [1, 2])
    func transformedAlpha(turns: Int) async throws {
        let original = try gradient(width: 64, height: 48), shade = try gradient(width: 64, height: 48, seed: 1)
        let greys = try TestImages.makePixels(width: 64, height: 48, alpha: .opaque) { x, y in
            Array(repeating: shade[x, y].x, count: 3) + [255]
        }
        let properties = [
            HEIFContainer.size(64, 48), HEIFContainer.crop(width: 20, height: 12, x: (8, 1), y: (-14, 1)),
            HEIFContainer.rotation(UInt8(turns)), HEIFContainer.mirroring(1),
        ]
        var file = HEIFContainer()
        file.add(item(try await AV1Image(original), properties), as: 1)
        let alpha = try await AV1Image(greys, isAlpha: true)
        file.add(item(alpha, properties + [HEIFContainer.auxiliary("alpha")]), as: 2)
        file.refer("auxl", from: 2, to: [1])
        let pixels = try decode(file)
        let colours = try expected(original, crop: (30, 4, 20, 12), turns: turns, axis: 1)
        let alphas = try expected(greys, crop: (30, 4, 20, 12), turns: turns, axis: 1)
        #expect(pixels.alpha == .straight && pixels.size == colours.size)
        for (x, y) in [(0, 0), (5, 9), (11, 11), (3, 7)] {
            #expect(pixels[x, y] == [colours[x, y].x, colours[x, y].y, colours[x, y].z, alphas[x, y].x])
        }
    }

    /// As libavif before 1.0 writes it, and Chromium 156 shows it.
    @Test("F02 an alpha without a rotation of its own is turned with its colours", arguments: [0, 1, 2, 3])
    func alphaWithoutRotation(turns: Int) async throws {
        let original = try gradient()
        let greys = try TestImages.makePixels(width: 64, height: 64, alpha: .opaque) { x, _ in
            Array(repeating: UInt8(255 - x), count: 3) + [255]
        }
        var file = HEIFContainer()
        let size = HEIFContainer.size(64, 64)
        file.add(item(try await AV1Image(original), [size, HEIFContainer.rotation(UInt8(turns))]), as: 1)
        let alpha = try await AV1Image(greys, isAlpha: true)
        file.add(item(alpha, [size, HEIFContainer.auxiliary("alpha")]), as: 2)
        file.refer("auxl", from: 2, to: [1])
        let pixels = try decode(file), alphas = try expected(greys, crop: (0, 0, 64, 64), turns: turns, axis: nil)
        #expect(pixels.alpha == .straight)
        for (x, y) in [(0, 0), (5, 9), (63, 2), (3, 60)] { #expect(pixels[x, y].w == alphas[x, y].x) }
    }

    /// Returns a grid of 2 x 2 tiles, whose items stand in this order.
    private func grid(order: [Int], isReversed: Bool = false) async throws -> HEIFContainer {
        var file = HEIFContainer()
        let content = HEIFContainer.grid(columns: 2, rows: 2, width: 128, height: 128)
        let gridItem = isReversed ? 9 : 1
        file.primaryItem = gridItem
        file.add(.init(type: "grid", data: content, properties: [HEIFContainer.size(128, 128)]), as: gridItem)
        for (position, item) in order.enumerated() {
            file.add(self.item(try await AV1Image(try gradient(seed: position))), as: item)
        }
        file.refer("dimg", from: gridItem, to: order)
        return file
    }

    @Test(
        "F02 tiles stand in the order of the grid, not of the items",
        arguments: [[2, 3, 4, 5], [5, 3, 2, 4], [3, 2, 5, 4]]
    )
    func gridOrder(order: [Int]) async throws {
        for isReversed in [false, true] {
            let pixels = try decode(try await grid(order: order, isReversed: isReversed))
            for position in 0..<4 {
                let (x, y) = (position % 2 * 64 + 20, position / 2 * 64 + 10), tile = try gradient(seed: position)
                let difference = (0..<3).map { abs(Int(pixels[x, y][$0]) - Int(tile[20, 10][$0])) }.max() ?? 255
                #expect(difference <= 2, "tile \(position): \(pixels[x, y])")
            }
        }
    }

    @Test("F07 the limits hold for a grid in another order") func gridLimits() async throws {
        let bytes = try await grid(order: [5, 3, 2, 4]).finished
        var limits = DecodeLimits()
        limits.pixels = 128 * 128 - 1
        #expect(
            errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(bytes, limits: limits) }
                == .limitExceeded
        )
        for count in stride(from: 0, to: bytes.count, by: 61) {
            let part = Array(bytes.prefix(count))
            #expect(errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(part) } != nil)
        }
    }

    private func alphaImage(width: Int = 64, height: Int = 64) async throws -> AV1Image {
        try await AV1Image(
            try TestImages.makePixels(width: width, height: height, alpha: .opaque) { x, y in
                Array(repeating: UInt8(x * 255 / width), count: 3) + [255]
            },
            isAlpha: true
        )
    }

    @Test("F02 an alpha item without a size of its own") func alphaWithoutSize() async throws {
        var file = HEIFContainer()
        file.add(item(try await AV1Image(try gradient())), as: 1)
        file.add(item(try await alphaImage(), [HEIFContainer.auxiliary("alpha")]), as: 2)
        file.refer("auxl", from: 2, to: [1])
        let pixels = try decode(file), original = try gradient()
        #expect(pixels.alpha == .straight)
        #expect(pixels[32, 9] == [original[32, 9].x, original[32, 9].y, 0, 127])
    }

    @Test("F02 one alpha item beside a grid of colours") func alphaBesideGrid() async throws {
        var file = try await grid(order: [2, 3, 4, 5])
        let alpha = try await alphaImage(width: 128, height: 128)
        file.add(item(alpha, [HEIFContainer.size(128, 128), HEIFContainer.auxiliary("alpha")]), as: 6)
        file.refer("auxl", from: 6, to: [1])
        let pixels = try decode(file)
        #expect(pixels.alpha == .straight)
        #expect(pixels[64, 10].w == 127 && pixels[127, 127].w == 253)
        #expect(abs(Int(pixels[84, 74].x) - 79) <= 2 && abs(Int(pixels[84, 74].z) - 180) <= 2)
    }

    @Test("F02 alpha that belongs to the tiles of a grid, rotated with it, in the process and cut", arguments: [0, 1])
    func alphaOfTiles(turns: UInt8) async throws {
        var file = HEIFContainer()
        let content = HEIFContainer.grid(columns: 2, rows: 2, width: 128, height: 128)
        let size = HEIFContainer.size(128, 128)
        let properties = turns == 0 ? [size] : [size, HEIFContainer.rotation(turns)]
        file.add(.init(type: "grid", data: content, properties: properties), as: 1)
        for tile in 0..<4 {
            file.add(item(try await AV1Image(try gradient(seed: tile))), as: 2 + tile)
            let level = UInt8(60 * tile + 20)
            let alpha = try await AV1Image(
                try TestImages.solid(width: 64, height: 64, colour: [level, level, level, 255]),
                isAlpha: true
            )
            file.add(item(alpha, [HEIFContainer.size(64, 64), HEIFContainer.auxiliary("alpha")]), as: 6 + tile)
            file.refer("auxl", from: 6 + tile, to: [2 + tile])
        }
        file.refer("dimg", from: 1, to: [2, 3, 4, 5])
        #expect(try ImageDecoder.header(of: file.finished)?.hasAlpha == true)
        let pixels = try decode(file)
        #expect(pixels.alpha == .straight)
        for (tile, place) in [(20, 20), (100, 20), (20, 100), (100, 100)].enumerated() {
            // A quarter turn anti-clockwise.
            let (x, y) = turns == 0 ? place : (place.1, 127 - place.0)
            #expect(pixels[x, y].w == UInt8(60 * tile + 20), "tile \(tile)")
            let blue = UInt8(tile * 60)
            #expect(abs(Int(pixels[x, y].z) - Int(blue)) <= 2, "tile \(tile)")
        }
        let bytes = file.finished
        for count in stride(from: 0, to: bytes.count, by: 97) {
            let part = Array(bytes.prefix(count))
            let code = errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(part) }
            #expect(code != nil, "\(count) of \(bytes.count)")
        }
    }

    /// As libavif since 1.0 reads them, which ignores an alpha that not each tile has as its own.
    @Test("F02 an alpha of one tile, or one for several, is not shown, and this is known", arguments: [[2], [2, 3]])
    func ignoredAlpha(targets: [Int]) async throws {
        var file = HEIFContainer()
        let size = HEIFContainer.size(128, 64)
        let content = HEIFContainer.grid(columns: 2, rows: 1, width: 128, height: 64)
        file.add(.init(type: "grid", data: content, properties: [size]), as: 1)
        for tile in 2...3 { file.add(item(try await AV1Image(try gradient(seed: tile))), as: tile) }
        file.refer("dimg", from: 1, to: [2, 3])
        let plain = file
        let alpha = HEIFContainer.auxiliary("alpha")
        file.add(item(try await alphaImage(), [HEIFContainer.size(64, 64), alpha]), as: 4)
        file.refer("auxl", from: 4, to: targets)
        let header = try #require(try ImageDecoder.header(of: file.finished))
        #expect(!header.hasAlpha && header.ignoresAlpha(of: file.finished))
        #expect(try decode(file).bytes == decode(plain).bytes)
        #expect(!header.ignoresAlpha(of: plain.finished))
        guard targets == [2] else { return }
        file.add(item(try await alphaImage(), [HEIFContainer.size(64, 64), alpha]), as: 5)
        file.refer("auxl", from: 5, to: [3])
        let whole = try #require(try ImageDecoder.header(of: file.finished))
        #expect(whole.hasAlpha && !whole.ignoresAlpha(of: file.finished))
    }

    /// The image that a gain map makes is the primary one, or an image is made from it.
    @Test("F02 the base of a gain map is shown, also rotated and mirrored (iden)", arguments: [4, 5, 6])
    func derived(primary: Int) async throws {
        let original = try gradient(width: 64, height: 48), size = HEIFContainer.size(64, 48)
        var file = HEIFContainer()
        file.add(item(try await AV1Image(original)), as: 1)
        file.add(item(try await AV1Image(try gradient(seed: 3))), as: 2)
        file.add(.init(type: "tmap", data: [UInt8](repeating: 0, count: 62), properties: [size]), as: 4)
        let properties = [size, HEIFContainer.rotation(1), HEIFContainer.mirroring(1)]
        for item in 5...6 { file.add(.init(type: "iden", data: [], properties: properties), as: item) }
        file.refer("dimg", from: 4, to: [1, 2])
        file.refer("dimg", from: 5, to: [1])
        file.refer("dimg", from: 6, to: [4])
        file.primaryItem = primary
        let turned = try expected(original, crop: (0, 0, 64, 48), turns: 1, axis: 1)
        let wanted = primary == 4 ? original : turned
        #expect(try ImageDecoder.header(of: file.finished)?.size == wanted.size)
        let pixels = try decode(file)
        #expect(pixels.size == wanted.size)
        #expect(signalToNoiseRatio(pixels, wanted) > 40)
    }

    @Test("F02 colours of a matrix that libavif does not know are an error that names it", arguments: [11, 14])
    func matrix(number: Int) async throws {
        let image = try await AV1Image(try gradient())
        let colours = [9, 16, number].flatMap(HEIFContainer.short)
        let properties = image.properties.filter { !$0.dropFirst(4).starts(with: "colr".utf8) }
        var file = HEIFContainer()
        let stated = properties + [HEIFContainer.box("colr", Array("nclx".utf8) + colours + [0x80])]
        let size = HEIFContainer.size(64, 64)
        file.add(.init(type: "av01", data: image.data, properties: stated + [size]), as: 1)
        do throws(EideticError) {
            _ = try decode(file)
            Issue.record("matrix \(number) is known")
        } catch {
            #expect(error.code == .unsupportedFormat && error.message.contains("matrix \(number)"), "\(error)")
        }
    }

    @Test("F02 an auxiliary depth image is no alpha") func depth() async throws {
        var file = HEIFContainer()
        file.add(item(try await AV1Image(try gradient())), as: 1)
        file.add(item(try await alphaImage(), [HEIFContainer.size(64, 64), HEIFContainer.auxiliary("depth")]), as: 2)
        file.refer("auxl", from: 2, to: [1])
        let pixels = try decode(file)
        let original = try gradient()
        #expect(pixels.alpha == .opaque && pixels.bytes == original.bytes)
    }

    @Test("F02 an item within the list of items (idat), and an operating point") func itemData() async throws {
        var file = HEIFContainer()
        let point = HEIFContainer.box("a1op", [0])
        let image = try await AV1Image(try gradient())
        file.add(item(image, [HEIFContainer.size(64, 64), point], isInItemData: true), as: 1)
        let original = try gradient()
        #expect(try decode(file).bytes == original.bytes)
    }

    @Test("F02 the best layer of several is shown", .needsCorpus) func layers() async throws {
        let image = try ImageDecoder.decode(
            try Corpus.bytes(of: "libavif/data/draw_points_idat_progressive.avif"),
            options: .stored
        )
        let original = try ImageDecoder.decode(try Corpus.bytes(of: "libavif/data/draw_points.png"), options: .stored)
        #expect(signalToNoiseRatio(image.pixels, original.pixels) > 30)
    }
}
