/// A bitmap with masks and a colour profile in the header of Windows 5.
struct BMPVersion5 {
    let width: Int
    let height: Int
    let bits: Int
    let masks: [Int]
    let pixels: [UInt8]
    var compression = 3
    var profile: [UInt8] = []
    /// The offset and length of the profile that the header states, if they are not the real ones.
    var statedProfile: (offset: Int, count: Int)?

    /// A row of pixels in the order blue, green, red, alpha.
    static func row(_ pixels: [UInt8]) -> BMPVersion5 {
        let masks = [0xff0000, 0xff00, 0xff, 0xff00_0000]
        return BMPVersion5(width: pixels.count / 4, height: 1, bits: 32, masks: masks, pixels: pixels)
    }

    /// The complete file, with the profile at its end.
    var file: [UInt8] {
        let head = Array("BM".utf8) + number(14 + 124 + pixels.count + profile.count) + number(0) + number(14 + 124)
        return head + header(profileOffset: 124 + pixels.count, height: height) + pixels + profile
    }

    /// Returns the image of an icon: header, pixels and mask, with the profile before or directly behind the pixels.
    func icon(mask: [UInt8], profileIsFirst: Bool) -> [UInt8] {
        let offset = 124 + (profileIsFirst ? 0 : pixels.count)
        return header(profileOffset: offset, height: 2 * height)
            + (profileIsFirst ? profile + pixels : pixels + profile) + mask
    }

    private func number(_ value: Int) -> [UInt8] { TIFFPage.littleEndian(value, byteCount: 4) }

    private func header(profileOffset: Int, height: Int) -> [UInt8] {
        let planes: [UInt8] = [1, 0, UInt8(bits), 0]
        var bytes = number(124) + number(width) + number(height) + planes + number(compression)
        bytes += Array(repeating: 0, count: 20) + masks.flatMap { number($0) }
        let hasProfile = !profile.isEmpty || statedProfile != nil
        bytes += number(hasProfile ? 0x4d42_4544 : 0x7352_4742) + Array(repeating: 0, count: 48)
        let stated = statedProfile ?? (profileOffset, profile.count)
        return bytes + number(4) + number(stated.offset) + number(stated.count) + number(0)
    }
}
