/// The chunks of a PNG that state the meaning of its colours.
///
/// `cICP` comes before `iCCP`, that before `sRGB`, and that before `gAMA` with `cHRM`. A chunk that is invalid, comes
/// again or stands in the wrong place is ignored.
///
/// - SeeAlso: PNG (third edition), section 4.3 and 11.3.2.
struct PNGColours {
    private var codePoints: CodePoints?
    /// The compressed colour profile, from behind its name.
    private var compressedProfile: UnsafeRawBufferPointer?
    private var isSRGB = false
    /// The exponent of encoding, in units of 1/100,000.
    private var gamma: Int?
    /// The chromaticities of white, red, green and blue, in the same units.
    private var chromaticities: [Int]?
    /// The brightest light of the image, and of the display for which it was made, in 1/10,000 cd/m².
    private var imagePeak: Int?, displayPeak: Int?

    private static let unit = 100_000.0
    /// The values of `gAMA` that mean sRGB: 1 / 2.2, and what differs by less than 5 % (libpng's limit).
    private static let usualGamma = 43_182...47_727

    /// Reads a chunk before the pixels.
    mutating func read(_ chunk: PNGChunks.Chunk) {
        let content = chunk.content
        switch chunk.name {
        case "cICP" where codePoints == nil: codePoints = CodePoints(content)
        case "iCCP" where compressedProfile == nil: compressedProfile = Self.compressedProfile(in: content)
        case "sRGB": isSRGB = isSRGB || (content.count == 1 && content[0] < 4)
        case "gAMA" where gamma == nil && content.count == 4: gamma = content.bigEndian32(at: 0)
        case "cHRM" where chromaticities == nil && content.count == 32:
            chromaticities = (0..<8).compactMap { content.bigEndian32(at: 4 * $0) }
        case "cLLI" where content.count == 8: imagePeak = imagePeak ?? content.bigEndian32(at: 0)
        case "mDCV" where content.count == 24: displayPeak = displayPeak ?? content.bigEndian32(at: 16)
        default: break
        }
    }

    /// The luminance of the brightest light in candela per square metre.
    private var peak: Double? { (imagePeak.flatMap { $0 > 0 ? $0 : nil } ?? displayPeak).map { Double($0) / 10_000 } }

    /// Lets what was read refer to the bytes at their present address.
    mutating func move(from old: UnsafeRawPointer, to new: UnsafeRawPointer) {
        compressedProfile = compressedProfile?.moved(from: old, to: new)
    }

    /// The meaning of the colours; `nil` means sRGB.
    var colourSpace: ColourSpace? {
        if let codePoints { return codePoints.colourSpace(peak: peak) }
        if let iccProfile { return .profile(iccProfile) }
        return isSRGB ? nil : stated
    }

    private var iccProfile: [UInt8]? {
        compressedProfile.flatMap { ZlibStream.inflate($0, limit: ICCProfile.maximumSize) }
            .flatMap { ICCProfile.hasSignature($0) ? $0 : nil }
    }

    /// The colours that `gAMA` and `cHRM` state; as in browsers, `cHRM` alone states none, nor does the usual `gAMA`,
    /// nor does a `cHRM` of a negative chromaticity or one above 1.
    private var stated: ColourSpace? {
        guard let gamma, gamma > 0 else { return nil }
        let transfer = TransferFunction(exponent: Self.unit / Double(gamma))
        guard let chromaticities else {
            return Self.usualGamma.contains(gamma) ? nil : .primaries(.sRGB, transfer)
        }
        guard chromaticities.allSatisfy({ Double($0) <= Self.unit }) else { return nil }
        let points = (0..<4).map { index in
            SIMD2(Double(chromaticities[2 * index]), Double(chromaticities[2 * index + 1])) / Self.unit
        }
        return .primaries(Chromaticities(red: points[1], green: points[2], blue: points[3], white: points[0]), transfer)
    }

    /// Returns the content behind the profile's name, its terminator and the method.
    private static func compressedProfile(in content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let end = content.prefix(80).firstIndex(of: 0), end > 0, content.uint8(at: end + 1) == 0 else {
            return nil
        }
        return content.slice(at: end + 2, count: content.count - end - 2)
    }
}
