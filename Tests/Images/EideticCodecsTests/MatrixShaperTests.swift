@testable import EideticCodecs
@testable import EideticCore
import Glibc
import Testing

/// Conversions of profiles of a matrix and curves.
///
/// The right values are those of LittleCMS for 8 bits, and of the formulas of IEC 61966-2-1 and ICC.1:2022, annex E.
@Suite("Matrix shaper", .timeLimit(.minutes(3)))
struct MatrixShaperTests {
    struct Profile: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let primaries: [[Double]]
        let curves: [[UInt8]]
        /// The light of a value of red, as the curve has it.
        let light: @Sendable (Double) -> Double

        init(
            _ name: String,
            _ primaries: [[Double]],
            curve: [UInt8],
            other: [UInt8]? = nil,
            light: @escaping @Sendable (Double) -> Double
        ) {
            testDescription = name
            self.primaries = primaries
            curves = [curve, curve, other ?? curve]
            self.light = light
        }

        var bytes: [UInt8] { TestProfile.matrix(primaries, curves: curves) }
    }

    private static let displayP3 = [
        [0.51512, 0.2412, -0.00105], [0.29198, 0.69225, 0.04189], [0.1571, 0.06657, 0.78407],
    ]
    private static let adobe = [
        [0.60974, 0.31111, 0.01947], [0.20528, 0.62567, 0.06087], [0.14919, 0.06322, 0.74457],
    ]
    private static let proPhoto = [[0.79767, 0.28804, 0], [0.13519, 0.71188, 0], [0.03134, 0.00009, 0.82491]]
    private static let sRGBCurve = TestProfile.curve(parameters: [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])

    private static func gamma(_ exponent: Double) -> @Sendable (Double) -> Double { { pow($0, exponent) } }

    private static func table(_ count: Int, exponent: Double) -> [UInt8] {
        TestProfile.curve(table: (0..<count).map { pow(Double($0) / Double(count - 1), exponent) })
    }

    static let profiles = [
        Profile("Display P3", displayP3, curve: sRGBCurve) { TransferFunction.sRGB.light(of: $0) },
        Profile("Adobe RGB", adobe, curve: TestProfile.curve(gamma: 563 / 256), light: gamma(563 / 256)),
        Profile("ProPhoto", proPhoto, curve: TestProfile.curve(gamma: 1.8), light: gamma(460.0 / 256)),
        Profile("linear", TestProfile.sRGB, curve: TestProfile.curve(gamma: 1), light: gamma(1)),
        Profile("linear without a number", displayP3, curve: TestProfile.curve(table: []), light: gamma(1)),
        Profile("gamma 1.8", TestProfile.sRGB, curve: TestProfile.curve(parameters: [1.8]), light: gamma(1.8)),
        Profile("gamma 2.2", displayP3, curve: TestProfile.curve(parameters: [2.2]), light: gamma(2.2)),
        Profile("table of 1,024", displayP3, curve: table(1_024, exponent: 2.2), light: gamma(2.2)),
        Profile("table of 4,096", adobe, curve: table(4_096, exponent: 1.8), light: gamma(1.8)),
    ]

    /// Profiles whose curves are not alike, or end elsewhere than at 0 and 1.
    static let others = [
        Profile("three curves", adobe, curve: sRGBCurve, other: TestProfile.curve(gamma: 1), light: gamma(1)),
        Profile(
            "table of 17",
            proPhoto,
            curve: table(17, exponent: 2),
            other: table(300, exponent: 1.2),
            light: gamma(2)
        ),
        Profile("of light above black", displayP3, curve: TestProfile.curve(table: [0.1, 0.2, 0.9]), light: gamma(1)),
        Profile("that falls", displayP3, curve: TestProfile.curve(table: [1, 0.5, 0]), light: gamma(1)),
        Profile("steep", displayP3, curve: TestProfile.curve(parameters: [1, 3, -1]), light: gamma(1)),
        Profile(
            "imaginary",
            [[-0.3, 1.9, 0.2], [1.5, -0.8, 0], [-0.2, -0.1, 0.6]],
            curve: sRGBCurve,
            light: gamma(1)
        ),
    ]

    static let all = profiles + others

    /// Each sixth level and the last, for all three channels: 79,507 colours; their alpha differs.
    private static func colours() throws -> PixelBuffer {
        let levels = Array(stride(from: 0, through: 252, by: 6)) + [255], count = levels.count
        return try PixelBuffer(size: PixelSize(width: count * count, height: count), alpha: .straight) { memory, _ in
            for index in 0..<count * count * count {
                let channels = [index % count, index / count % count, index / count / count].map { levels[$0] }
                for (offset, value) in (channels + [index & 255]).enumerated() {
                    memory[4 * index + offset] = UInt8(value)
                }
            }
        }
    }

    private static func converted(
        _ pixels: PixelBuffer,
        by convert: (PixelBuffer, UnsafeMutableRawBufferPointer, _ stride: Int) throws -> Void
    ) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4 * pixels.size.pixelCount)
        try bytes.withUnsafeMutableBytes { try convert(pixels, $0, 4 * pixels.size.width) }
        return bytes
    }

    private static func deep(_ pixels: PixelBuffer) throws -> DeepPixels {
        try DeepPixels(size: pixels.size, alpha: .straight) { memory, _ in
            for (index, byte) in pixels.bytes.enumerated() {
                memory.storeBytes(of: UInt16(byte) * 257, toByteOffset: 2 * index, as: UInt16.self)
            }
        }
    }

    private static func convert(
        _ deep: borrowing DeepPixels,
        by shaper: MatrixShaper,
        to target: UnsafeMutableRawBufferPointer,
        stride: Int
    ) {
        shaper.convert(deep.kernelSource, to: target.kernelTarget(stride: stride))
    }

    private static func byLittleCMS(_ pixels: PixelBuffer, profile: [UInt8]) throws -> [UInt8] {
        guard let profile = ColourProfile(profile),
            let transform = ProfileTransform(from: profile, colorModel: .rgb, isDeep: false)
        else { throw TestError(message: "LittleCMS does not read the profile") }
        return try converted(pixels) { pixels, target, stride in
            pixels.withKernelSource { transform.convert($0, to: target.kernelTarget(stride: stride)) }
        }
    }

    private static func shaper(_ profile: [UInt8], isDeep: Bool) throws -> MatrixShaper {
        guard case .shaper(let shaper) = ColourConverter(from: .profile(profile), isDeep: isDeep) else {
            throw TestError(message: "not converted by tables")
        }
        return shaper
    }

    struct TestError: Error { let message: String }

    private static func expect(
        _ found: [UInt8],
        _ right: [UInt8],
        of pixels: PixelBuffer,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let worst =
            found.indices.max { abs(Int(found[$0]) - Int(right[$0])) < abs(Int(found[$1]) - Int(right[$1])) } ?? 0
        let difference = abs(Int(found[worst]) - Int(right[worst]))
        let (x, y) = (worst / 4 % pixels.size.width, worst / 4 / pixels.size.width)
        #expect(
            difference <= 1,
            "\(pixels[x, y]): \(found[worst]), not \(right[worst])",
            sourceLocation: sourceLocation
        )
    }

    @Test("F02 colours of a matrix and curves are at most a level from LittleCMS's", arguments: all)
    func likeLittleCMS(profile: Profile) throws {
        let pixels = try Self.colours(), shaper = try Self.shaper(profile.bytes, isDeep: false)
        let found = try Self.converted(pixels) { pixels, target, stride in
            pixels.withKernelSource { shaper.convert($0, to: target.kernelTarget(stride: stride)) }
        }
        let right = try Self.byLittleCMS(pixels, profile: profile.bytes)
        Self.expect(found, right, of: pixels)
    }

    @Test("F02 colours of 16 bits are at most a level from those of 8 bits", arguments: all)
    func deepLikeLittleCMS(profile: Profile) throws {
        let pixels = try Self.colours(), shaper = try Self.shaper(profile.bytes, isDeep: true)
        let found = try Self.converted(pixels) { pixels, target, stride in
            Self.convert(try Self.deep(pixels), by: shaper, to: target, stride: stride)
        }
        let right = try Self.byLittleCMS(pixels, profile: profile.bytes)
        Self.expect(found, right, of: pixels)
    }

    @Test("F02 each channel is clipped alone, and alpha is kept", arguments: [false, true])
    func clipped(isDeep: Bool) throws {
        // Display P3; the first colour is published, as Chromium 156 shows it. Red, green, yellow and blue are outside.
        let stored: [UInt8] = [180, 90, 60, 7, 255, 0, 0, 0, 0, 255, 0, 128, 255, 255, 0, 254, 0, 0, 255, 255]
        let right: [UInt8] = [193, 83, 51, 7, 255, 0, 0, 0, 0, 255, 0, 128, 255, 255, 0, 254, 0, 0, 255, 255]
        #expect(try Self.convert(stored, from: Self.profiles[0], isDeep: isDeep) == right)
    }

    @Test("F02 grey of light far beyond white remains grey", arguments: [false, true])
    func bright(isDeep: Bool) throws {
        let curve = TestProfile.curve(parameters: [1, 1_000, 0])
        let profile = Profile("bright", Self.displayP3, curve: curve, light: { 1_000 * $0 })
        let stored: [UInt8] = [0, 0, 0, 255, 1, 1, 1, 255, 128, 128, 128, 255, 255, 255, 255, 255]
        let right: [UInt8] = [0, 0, 0] + [UInt8](repeating: 255, count: 13)
        #expect(try Self.convert(stored, from: profile, isDeep: isDeep) == right)
    }

    private static func convert(_ stored: [UInt8], from profile: Profile, isDeep: Bool) throws -> [UInt8] {
        let size = PixelSize(width: stored.count / 4, height: 1), shaper = try shaper(profile.bytes, isDeep: isDeep)
        let pixels = try PixelBuffer(size: size, alpha: .straight) { memory, _ in memory.copyBytes(from: stored) }
        return try converted(pixels) { pixels, target, stride in
            if isDeep {
                convert(try deep(pixels), by: shaper, to: target, stride: stride)
            } else {
                pixels.withKernelSource { shaper.convert($0, to: target.kernelTarget(stride: stride)) }
            }
        }
    }

    @Test("F02 values of 16 bits are converted before bits are cut", arguments: profiles)
    func ramp(profile: Profile) throws {
        let shaper = try Self.shaper(profile.bytes, isDeep: true), step = 16, count = 65_535 / step
        let deep = try DeepPixels(size: PixelSize(width: count, height: 1), alpha: .opaque) { memory, _ in
            for index in 0..<4 * count {
                memory.storeBytes(of: UInt16(index / 4 * step + 5), toByteOffset: 2 * index, as: UInt16.self)
            }
        }
        var found = [UInt8](repeating: 0, count: 4 * count)
        found.withUnsafeMutableBytes { Self.convert(deep, by: shaper, to: $0, stride: 0) }
        for index in 0..<count {
            let light = profile.light(Double(index * step + 5) / 65_535)
            let value = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
            #expect((0..<3).allSatisfy { abs(Double(found[4 * index + $0]) - 255 * value) <= 1 }, "\(index)")
        }
    }

    @Test("F02 profiles with tables, and those of inks, are converted by LittleCMS") func tables() throws {
        let table = try #require(ColourConverter(from: .profile(TestProfile.table)))
        let inks = try #require(ColourConverter(from: .profile(TestProfile.inks), colorModel: .cmyk))
        for converter in [table, inks] {
            guard case .profile = converter else { Issue.record("\(converter)"); continue }
        }
        // Its white is that without red, green and blue.
        var png = PNGWriter(width: 1, height: 1)
        png.addChunk("iCCP", content: Array("test\0\0".utf8) + PNGWriter.zlibStream(of: TestProfile.table))
        png.addPixels([0, 0, 0, 0])
        #expect(try ImageDecoder.decode(png.finished).pixels.bytes == [255, 255, 255, 255])
    }

    @Test("F02 some conversions of the last images are kept, each for its own profile and bits") func recent() throws {
        var recent = RecentShapers()
        func profile(_ gamma: Double) -> ColourSpace {
            .profile(TestProfile.rgb(swapsRedAndGreen: false, gamma: gamma))
        }
        func insert(_ colourSpace: ColourSpace, isDeep: Bool = false) throws {
            recent.insert(try #require(RecentShapers.Entry(colourSpace, isDeep: isDeep)))
        }
        let gammas = (0..<RecentShapers.maximumCount).map { 1 + Double($0) / 8 }
        for gamma in gammas { try insert(profile(gamma)) }
        #expect(gammas.allSatisfy { recent.find(profile($0), isDeep: false) != nil })
        #expect(recent.find(profile(gammas[0]), isDeep: true) == nil)
        #expect(recent.find(profile(gammas[0]), isDeep: false) != nil)
        try insert(.primaries(.sRGB, TransferFunction(exponent: 1)))
        // Another thread has made the same one.
        try insert(.primaries(.sRGB, TransferFunction(exponent: 1)))
        // The one used last remains; the one used longest ago goes.
        #expect(recent.find(profile(gammas[0]), isDeep: false) != nil)
        #expect(recent.find(profile(gammas[1]), isDeep: false) == nil)
        #expect(recent.find(profile(gammas[2]), isDeep: false) != nil)
        let large = ColourSpace.profile(TestProfile.rgb(swapsRedAndGreen: true) + [UInt8](repeating: 0, count: 1 << 16))
        try insert(large)
        #expect(recent.find(large, isDeep: false) == nil)
        let sRGB = TestProfile.curve(parameters: [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
        let same = ColourSpace.profile(TestProfile.matrix(TestProfile.sRGB, curves: [sRGB, sRGB, sRGB]))
        #expect(try #require(RecentShapers.entry(for: same, isDeep: false)).shaper == nil)
    }
}
