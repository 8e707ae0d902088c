/// An encoder for the graphics protocol of the terminal kitty.
///
/// - SeeAlso: https://sw.kovidgoyal.net/kitty/graphics-protocol/
enum KittyEncoder {
    /// The maximum number of Base64 bytes in a chunk.
    private static let chunkLength = 4_096

    /// Returns the control sequences that show the pixels as RGBA at the cursor, without a response of the terminal.
    static func encode(_ pixels: StraightPixels) -> [UInt8] {
        let bytes = pixels.colors.flatMap { [$0.x, $0.y, $0.z, $0.w] }
        let text = Base64.encode(bytes)
        var output: [UInt8] = []
        var control = "a=T,q=2,f=32,s=\(pixels.width),v=\(pixels.height),"
        for start in stride(from: 0, to: text.count, by: chunkLength) {
            let end = min(text.count, start + chunkLength)
            output += "\u{1b}_G\(control)m=\(end < text.count ? 1 : 0);".utf8
            output += text[start..<end]
            output += "\u{1b}\\".utf8
            control = ""
        }
        return output + "\n".utf8
    }
}
