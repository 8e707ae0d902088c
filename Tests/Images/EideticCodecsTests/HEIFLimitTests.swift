import EideticCodecs
import EideticCore
import Testing

private let isBuilt = Set(ImageDecoder.supportedFormats).isSuperset(of: [.avif, .heic])

@Suite("Limits of HEIF", .timeLimit(.minutes(1)), .enabled(if: isBuilt, "this build does not decode AVIF and HEIC"))
struct HEIFLimitTests {
    private func error(_ file: HEIFWriter, pixels: Int = 1 << 27) -> EideticError? {
        error(file.finished, pixels: pixels)
    }

    private func error(_ bytes: [UInt8], pixels: Int = 1 << 27) -> EideticError? {
        var limits = DecodeLimits()
        limits.pixels = pixels
        do throws(EideticError) { _ = try ImageDecoder.decode(bytes, limits: limits) } catch { return error }
        return nil
    }

    @Test("C18 a grid of tiles in their announced size is decoded", arguments: [false, true])
    func validGrid(repeatsTile: Bool) throws {
        let image = try ImageDecoder.decode(HEIFWriter(repeatsTile: repeatsTile).finished)
        #expect(image.size == PixelSize(width: 128, height: 128))
        #expect(image.pixels[0, 0] == image.pixels[127, 127])
    }

    @Test("C18 a tile that is coded larger than it is announced is refused, not scaled down")
    func largerTile() {
        #expect(error(HEIFWriter(tile: .large))?.code == .corrupt)
        #expect(error(HEIFWriter(side: 512, tile: .large)) == nil)
        #expect(error(HEIFWriter(side: 511, tile: .large))?.code == .corrupt)
    }

    @Test("C18 a tile of a large grid may not be coded as large as the grid")
    func tileAsLargeAsGrid() {
        // Eight by eight tiles that are announced in half the side of their coded frame.
        #expect(error(HEIFWriter(columns: 8, rows: 8, side: 256, tile: .large))?.code == .corrupt)
    }

    @Test("C18 the coded pixels of all references to one tile are limited")
    func references() {
        let file = HEIFWriter(columns: 3, rows: 3, repeatsTile: true, tile: .large)
        // Nine references to 512 x 512 pixels; the limit counts for the colours and for the alpha.
        let count = 9 * 512 * 512
        #expect(error(file, pixels: count / 2 - 1)?.code == .limitExceeded)
        #expect(error(file, pixels: count / 2)?.code != .limitExceeded)
        #expect(error(file, pixels: count / 2 + 1)?.code != .limitExceeded)
    }

    @Test("C18 the number of coded tiles of an AVIF is limited", arguments: [511, 512, 513])
    func tiles(count: Int) {
        let columns = count == 511 ? 73 : count == 512 ? 64 : 57
        let file = HEIFWriter(columns: columns, rows: count / columns)
        #expect(error(file)?.code == (count > 512 ? .limitExceeded : nil))
    }

    @Test("C18 frames that may state their own size count with the largest that they can state")
    func frameSizeOverride() {
        // A sequence header of 64 x 64 pixels whose frames state their size in 16 bits.
        var bits = "000" + "0" + "0" + "0" + "0" + "00000" + String(repeating: "0", count: 12) + "00000"
        bits += "1111" + "1111" + "0000000000111111" + "0000000000111111"
        let header = HEIFWriter.bytes(ofBits: bits + String(repeating: "0", count: 8))
        let tile = HEIFWriter.Tile(data: [0x0a, UInt8(header.count)] + header)
        let refused = error(HEIFWriter(repeatsTile: true, tile: tile))
        #expect(refused?.code == .limitExceeded)
        #expect(refused?.message.contains("\(4 << 32)") == true)
    }

    @Test("C18 the coded size of HEVC comes from its parameter sets", arguments: [(1_200, 64), (64, 1_200)])
    func parameterSets(configuredSide: Int, side: Int) {
        let tile = HEIFWriter.Tile(configuredSide: configuredSide, side: side)
        let file = HEIFWriter(columns: 1, rows: 1, tile: tile), count = 1_200 * 1_200
        #expect(error(file, pixels: count / 2 - 1)?.code == .limitExceeded)
        // The tile has no pixels.
        #expect(error(file, pixels: count / 2)?.code == .corrupt)
        #expect(error(file, pixels: count / 2 + 1)?.code == .corrupt)
    }

    @Test("C18 a reference box that announces more than it contains is refused at once")
    func announcedReferences() {
        let box = HEIFWriter.box("auxl", HEIFWriter.short(2) + HEIFWriter.short(65_535) + HEIFWriter.short(3))
        let file = HEIFWriter(references: Array(repeating: box, count: 10_000).flatMap { $0 })
        let code = errorCode { () throws(EideticError) in _ = try ImageDecoder.header(of: file.finished) }
        #expect(code == .limitExceeded)
    }

    @Test("C18 the number of items and references is limited")
    func tables() {
        // The grid has four references.
        func error(items: Int = 5, references count: Int = 0) -> EideticError.Code? {
            let list = HEIFWriter.short(2) + HEIFWriter.short(count) + (0..<count).flatMap { _ in HEIFWriter.short(1) }
            let file = HEIFWriter(references: count > 0 ? HEIFWriter.box("cdsc", list) : [], itemCount: items).finished
            return errorCode { () throws(EideticError) in _ = try ImageDecoder.header(of: file) }
        }
        #expect(error(items: 16_383) == nil && error(items: 16_384) == nil)
        #expect(error(items: 16_385) == .limitExceeded)
        #expect(error(references: 16_379) == nil && error(references: 16_380) == nil)
        #expect(error(references: 16_381) == .limitExceeded)
    }
}
