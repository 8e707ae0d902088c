/// Writes GIF files block by block.
enum GIFWriter {
    /// Returns an animation of 8 x 8 pixels, whose small frames use every disposal in turn, and that is never covered
    /// as a whole.
    static func everyDisposal(frameCount: Int) -> [UInt8] {
        var gif = head(width: 8, height: 8)
        for index in 0..<frameCount {
            let disposal = UInt8(index % 4), x = UInt8(index * 3 % 7), y = UInt8(index * 5 % 8)
            gif += frame(x: x, y: y, colour: UInt8(index % 4), disposal: disposal)
        }
        return gif + [0x3b]
    }

    /// Returns the header, with four colours: red, green, blue and grey.
    static func head(width: UInt8, height: UInt8) -> [UInt8] {
        Array("GIF89a".utf8) + [width, 0, height, 0, 0x81, 1, 0] + [255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9]
    }

    /// Returns the block that tells how often an animation is repeated.
    static func loops(_ repeats: UInt8) -> [UInt8] {
        [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, repeats, 0, 0]
    }

    /// Returns a frame of one pixel.
    static func frame(x: UInt8, y: UInt8, colour: UInt8, disposal: UInt8 = 1, hasControl: Bool = true) -> [UInt8] {
        let control: [UInt8] = hasControl ? [0x21, 0xf9, 4, disposal << 2, 5, 0, 0, 0] : []
        // The clear code, the colour and the end code, of three bits each.
        let codes = 4 | Int(colour) << 3 | 5 << 6
        return control + [0x2c, x, 0, y, 0, 1, 0, 1, 0, 0, 2, 2, UInt8(codes & 255), UInt8(codes >> 8), 0]
    }
}
