@testable import EideticCodecs
import EideticCore
import Testing

private let isBuilt = Set(ImageDecoder.supportedFormats).isSuperset(of: [.avif, .heic])

@Suite("Limits of HEIF", .timeLimit(.minutes(1)), .enabled(if: isBuilt, "this build does not decode AVIF and HEIC"))
struct HEIFLimitTests {
    private func error(_ file: HEIFWriter) -> EideticError? {
        do throws(EideticError) { _ = try ImageDecoder.decode(file.finished) } catch { return error }
        return nil
    }

    @Test("C18 a grid of tiles in their announced size is decoded", arguments: [false, true])
    func validGrid(repeatsTile: Bool) throws {
        let image = try ImageDecoder.decode(HEIFWriter(repeatsTile: repeatsTile).finished)
        #expect(image.size == PixelSize(width: 128, height: 128))
        #expect(image.pixels[0, 0] == image.pixels[127, 127])
    }

    @Test("F07 lists of a HEIF file that end before what they announce take no memory", arguments: ["avif", "heic"])
    func announcedLists(brand: String) throws {
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            let count = content.count + 8
            return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + Array(name.utf8) + content
        }
        let item = box("infe", [2, 0, 0, 0, 0, 1, 0, 0] + Array("av01\0".utf8))
        let start = box("hdlr", [UInt8](repeating: 0, count: 8) + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
        // 65,535 targets each, none of which is there.
        let reference = box("dimg", [0, 2, 0xff, 0xff])
        let references = box("iref", [0, 0, 0, 0] + [[UInt8]](repeating: reference, count: 20_000).joined())
        // 65,535 extents each, without fields.
        let locations = box(
            "iloc",
            [0, 0, 0, 0, 0, 0, 0x9c, 0x40]
                + (1...40_000).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff), 0, 0, 0xff, 0xff] as [UInt8] }
        )
        for list in [references, locations] {
            let items = box("pitm", [0, 0, 0, 0, 0, 1]) + box("iinf", [0, 0, 0, 0, 0, 1] + item)
            let file =
                box("ftyp", Array("\(brand)\0\0\0\0\(brand)mif1".utf8))
                + box("meta", [0, 0, 0, 0] + start + items + list)
            let index = try #require(file.withUnsafeBytes { HEIFItemIndex($0) })
            #expect(index.extents.values.allSatisfy { $0.count <= 1 })
            #expect(throws: EideticError.self) { try ImageDecoder.decode(file) }
        }
    }

    @Test("F07 a tile that is coded much larger than the image is refused, not scaled down")
    func largerTile() {
        #expect(error(HEIFWriter(tile: .large))?.code == .corrupt)
        #expect(error(HEIFWriter(columns: 8, rows: 8, tile: .large))?.code == .corrupt, "larger than other tiles")
        #expect(error(HEIFWriter(side: 512, tile: .large)) == nil)
    }
}
