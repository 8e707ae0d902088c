import CBareCodecs
import EideticCodecs
import EideticCore
import EideticTestSupport

extension Bench {
    /// Compares BMP, ICO and SVG with the decoders of desktop libraries.
    func measureToolkitFormats(_ photograph: Image) async throws {
        if eidetic_bare_has_svg() != 0 {
            try await compareDecoding("svg", of: drawing, goal: 1.05, with: "librsvg", decoder: eidetic_bare_svg_decode)
        }
        guard eidetic_bare_has_pixbuf() != 0 else {
            return printError("decode: bmp and ico: skipped: gdk-pixbuf is not installed")
        }
        let bitmap = photograph.pixels.bitmap(isIcon: false)
        try await compareDecoding(
            "bmp",
            of: bitmap,
            goal: 1.05,
            with: "gdk-pixbuf",
            decoder: eidetic_bare_pixbuf_decode
        )
        var options = DecodeOptions()
        options.size = PixelSize(width: 256, height: 192)
        let icon = try ImageDecoder.decode(try photograph.encoded(as: .webp), options: options).pixels.bitmap(
            isIcon: true
        )
        try await compareDecoding("ico", of: icon, goal: 1.05, with: "gdk-pixbuf", decoder: eidetic_bare_pixbuf_decode)
    }

    /// An SVG with two thousand gradient-filled curves.
    private var drawing: [UInt8] {
        var random = SplitMix(state: 1)
        func number(below limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
        let curves = (0..<2_000).map { _ in
            let (x, y) = (number(below: 1_500), number(below: 1_100))
            return
                "<path d='M\(x) \(y)c\(number(below: 90)) \(number(below: 90)) \(number(below: 90)) 9 50 \(number(below: 90))z' fill='url(#a)'/>"
        }
        let gradient =
            "<linearGradient id='a'><stop stop-color='red'/><stop offset='1' stop-color='blue'/></linearGradient>"
        let size = "width='1600' height='1200'"
        return Array("<svg xmlns='http://www.w3.org/2000/svg' \(size)>\(gradient)\(curves.joined())</svg>".utf8)
    }
}

extension PixelBuffer {
    /// Returns a BMP file of 24 bits per pixel, or an icon file that contains one.
    fileprivate func bitmap(isIcon: Bool) -> [UInt8] {
        func littleEndian(_ value: Int, byteCount: Int = 4) -> [UInt8] {
            (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let stride = (3 * size.width + 3) / 4 * 4
        let mask = isIcon ? (size.width + 31) / 32 * 4 * size.height : 0
        let fileSize = 40 + stride * size.height + mask
        var file =
            isIcon
            ? [0, 0, 1, 0, 1, 0] + [0, UInt8(truncatingIfNeeded: size.height), 0, 0, 1, 0, 24, 0]
                + littleEndian(fileSize)
                + littleEndian(22)
            : Array("BM".utf8) + littleEndian(14 + fileSize) + littleEndian(0) + littleEndian(54)
        file += littleEndian(40) + littleEndian(size.width) + littleEndian(isIcon ? 2 * size.height : size.height)
        file += littleEndian(1, byteCount: 2) + littleEndian(24, byteCount: 2) + Array(repeating: 0, count: 24)
        withUnsafeBytes { pixels in
            for y in (0..<size.height).reversed() {
                for x in 0..<size.width {
                    let offset = y * bytesPerRow + 4 * x
                    file += [pixels[offset + 2], pixels[offset + 1], pixels[offset]]
                }
                file += Array(repeating: 0, count: stride - 3 * size.width)
            }
        }
        return file + Array(repeating: 0, count: mask)
    }
}
