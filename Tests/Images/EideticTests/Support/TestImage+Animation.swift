extension TestImage {
    /// Two frames of one pixel each, red and black, 100 ms.
    static let animatedGIF: [UInt8] = {
        let head: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 0]
        func frame(_ index: UInt8) -> [UInt8] {
            // The codes: clear, the colour, end; of three bits each.
            let codes: [UInt8] = index == 0 ? [0x44, 0x01] : [0x4c, 0x01]
            let control: [UInt8] = [0x21, 0xf9, 4, 0, 10, 0, 0, 0]
            return control + [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2] + codes + [0]
        }
        return head + frame(0) + frame(1) + [0x3b]
    }()
}
