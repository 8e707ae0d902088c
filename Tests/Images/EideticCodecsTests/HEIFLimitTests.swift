import EideticCodecs
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

    @Test("F07 a tile that is coded much larger than the image is refused, not scaled down")
    func largerTile() {
        #expect(error(HEIFWriter(tile: .large))?.code == .corrupt)
        #expect(error(HEIFWriter(columns: 8, rows: 8, tile: .large))?.code == .corrupt, "larger than other tiles")
        #expect(error(HEIFWriter(side: 512, tile: .large)) == nil)
    }
}
