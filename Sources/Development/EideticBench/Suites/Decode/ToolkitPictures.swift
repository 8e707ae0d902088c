import CBareCodecs
import EideticCodecs
import EideticCore

extension Bench {
    /// Formats whose decoder is our own, or a drawing, against what a desktop has for them.
    func withToolkit(_ photograph: Image) async throws {
        if eidetic_bare_has_svg() != 0 {
            try await whole("svg", drawing, 1.05, "librsvg", eidetic_bare_svg_decode)
        }
        guard eidetic_bare_has_pixbuf() != 0 else {
            return printError("decode: bmp and ico: skipped: gdk-pixbuf is not installed")
        }
        let bitmap = photograph.pixels.bitmap(isIcon: false)
        try await whole("bmp", bitmap, 1.05, "gdk-pixbuf", eidetic_bare_pixbuf_decode)
        var options = DecodeOptions()
        options.size = PixelSize(width: 256, height: 192)
        let icon = try ImageDecoder.decode(try photograph.encoded(.webp), options: options).pixels.bitmap(isIcon: true)
        try await whole("ico", icon, 1.05, "gdk-pixbuf", eidetic_bare_pixbuf_decode)
    }

    /// Two thousand curves with gradients.
    private var drawing: [UInt8] {
        var random = SplitMix(state: 1)
        func number(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
        let curves = (0..<2_000).map { _ in
            let (x, y) = (number(1_500), number(1_100))
            return "<path d='M\(x) \(y)c\(number(90)) \(number(90)) \(number(90)) 9 50 \(number(90))z' fill='url(#a)'/>"
        }
        let gradient =
            "<linearGradient id='a'><stop stop-color='red'/><stop offset='1' stop-color='blue'/></linearGradient>"
        let size = "width='1600' height='1200'"
        return Array("<svg xmlns='http://www.w3.org/2000/svg' \(size)>\(gradient)\(curves.joined())</svg>".utf8)
    }
}

extension PixelBuffer {
    /// A bitmap of 24 bits a pixel, or an icon that holds one.
    fileprivate func bitmap(isIcon: Bool) -> [UInt8] {
        func little(_ value: Int, _ count: Int = 4) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let stride = (3 * size.width + 3) / 4 * 4, mask = isIcon ? (size.width + 31) / 32 * 4 * size.height : 0
        let all = 40 + stride * size.height + mask
        var file =
            isIcon
            ? [0, 0, 1, 0, 1, 0] + [0, UInt8(truncatingIfNeeded: size.height), 0, 0, 1, 0, 24, 0] + little(all)
                + little(22)
            : Array("BM".utf8) + little(14 + all) + little(0) + little(54)
        file += little(40) + little(size.width) + little(isIcon ? 2 * size.height : size.height)
        file += little(1, 2) + little(24, 2) + Array(repeating: 0, count: 24)
        withUnsafeBytes { pixels in
            for y in (0..<size.height).reversed() {
                for x in 0..<size.width {
                    let at = y * bytesPerRow + 4 * x
                    file += [pixels[at + 2], pixels[at + 1], pixels[at]]
                }
                file += Array(repeating: 0, count: stride - 3 * size.width)
            }
        }
        return file + Array(repeating: 0, count: mask)
    }
}
