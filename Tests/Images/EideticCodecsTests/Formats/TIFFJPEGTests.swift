import EideticCodecs
import EideticCore
import Testing

@Suite("JPEG inside TIFF")
struct TIFFJPEGTests {
    private func decode(_ page: TIFFPage) throws(EideticError) -> PixelBuffer {
        try ImageDecoder.decode(page.finished, options: .stored).pixels
    }

    /// The start of a JPEG with the lossless process (SOF3): one component of 8 bits.
    private static let losslessHead: [UInt8] = [0xff, 0xd8, 0xff, 0xc3, 0, 11, 8, 0, 3, 0, 5, 1, 1, 0x11, 0]

    @Test("F02 lossless JPEG is refused by name: in strips of any depth, and as a file", arguments: [8, 12, 16])
    func lossless(bits: Int) throws {
        let strip = Self.losslessHead + [0xff, 0xda, 0, 8, 1, 1, 0, 1, 0, 0, 1, 2, 3, 4, 0xff, 0xd9]
        let page = TIFFPage(width: 5, height: 3, bits: [bits], photometric: 1, compression: 7, strips: [strip])
        for file in [page.finished, strip] {
            let error = #expect(throws: EideticError.self) { try ImageDecoder.decode(file) }
            #expect(error?.code == .unsupportedFormat && error?.message.contains("lossless JPEG") == true)
        }
        #expect(try ImageDecoder.header(of: strip)?.size == PixelSize(width: 5, height: 3))
    }

    /// The parts of a baseline JPEG file.
    private struct Parts {
        let bytes: [UInt8]
        var quantization: [[UInt8]] = []
        var codes: [(isAC: Bool, table: [UInt8])] = []
        var scan = 0..<0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            var offset = 2
            while offset + 4 <= bytes.count, bytes[offset] == 0xff, scan.isEmpty {
                let marker = bytes[offset + 1], length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
                var body = bytes[offset + 4..<offset + 2 + length]
                offset += 2 + length
                if marker == 0xda { scan = offset..<bytes.count - 2 }
                while marker == 0xdb, body.count >= 65 {
                    quantization.append(Array(body.dropFirst().prefix(64)))
                    body = body.dropFirst(65)
                }
                while marker == 0xc4, body.count >= 17 {
                    let count = 17 + body.dropFirst().prefix(16).reduce(0) { $0 + Int($1) }
                    codes.append((body[body.startIndex] >> 4 == 1, Array(body.dropFirst().prefix(count - 1))))
                    body = body.dropFirst(count)
                }
            }
        }
    }

    /// Returns a page around a JPEG file in the old style, with the size of its chroma.
    private func oldPage(width: Int, height: Int, strips: [[UInt8]]) -> TIFFPage {
        var page = TIFFPage(
            width: width,
            height: height,
            bits: [8, 8, 8],
            photometric: 6,
            compression: 6,
            strips: strips
        )
        page.set(512, as: .short, to: [1])
        page.set(530, as: .short, to: [1, 1])
        return page
    }

    @Test("F02 JPEG of the old style: a complete file, a file and its scan, tables in tags", arguments: [0, 1, 2])
    func oldStyle(variant: Int) throws {
        let photo = try TestImages.photo(width: 40, height: 24)
        // From a quality of 0.9 on, chroma has the full resolution.
        let file = try Fixture.encode(photo, as: .jpeg, quality: 0.95)
        let parts = Parts(file)
        var page: TIFFPage
        switch variant {
        case 0:
            page = oldPage(width: 40, height: 24, strips: [file])
            page.set(513, positions: [0])
            page.set(514, as: .long, to: [file.count])
        case 1:
            page = oldPage(width: 40, height: 24, strips: [file])
            page.set(513, positions: [0])
            page.set(514, as: .long, to: [file.count])
            page.set(273, positions: [parts.scan.lowerBound])
            page.set(279, as: .long, to: [parts.scan.count])
        default:
            let tables =
                parts.quantization + parts.codes.filter { !$0.isAC }.map(\.table)
                + parts.codes.filter { $0.isAC }.map(\.table)
            page = oldPage(width: 40, height: 24, strips: [Array(file[parts.scan]) + tables.joined()])
            page.set(279, as: .long, to: [parts.scan.count])
            page.set(273, positions: [0])
            var start = parts.scan.count
            let positions = tables.map { table in
                defer { start += table.count }
                return start
            }
            let count = parts.quantization.count
            page.set(519, positions: (0..<3).map { positions[min($0, count - 1)] })
            page.set(520, positions: (0..<3).map { positions[count + min($0, 1)] })
            page.set(521, positions: (0..<3).map { positions[count + 2 + min($0, 1)] })
        }
        let expected = try ImageDecoder.decode(file, options: .stored).pixels
        let pixels = try decode(page)
        #expect(pixels.size == expected.size)
        #expect(signalToNoiseRatio(pixels, expected) > 40)
    }

    @Test("F07 truncated JPEG of the old style is an error or an image, never a crash") func damagedOldStyle() throws {
        let file = try Fixture.encode(try TestImages.photo(width: 40, height: 24), as: .jpeg, quality: 0.95)
        var failures = 0
        for count in stride(from: 0, to: file.count, by: 97) {
            var page = oldPage(width: 40, height: 24, strips: [Array(file.prefix(count))])
            page.set(513, positions: [0])
            page.set(514, as: .long, to: [file.count])
            do throws(EideticError) {
                #expect(try decode(page).size == PixelSize(width: 40, height: 24))
            } catch {
                failures += 1
                #expect([.corrupt, .truncated].contains(error.code), "\(error)")
            }
        }
        // Without its header nothing is an image.
        #expect(failures >= 1)
    }
}
