import CBareCodecs
import CBareJPEG
import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc

extension Bench {
    /// Measures the conversion of a photograph of six megapixels from Display P3 to sRGB, which is nearly all of a
    /// bitmap's decode, and within the decode of a JPEG.
    func measureColourConversion() async throws {
        if let only = arguments["only"], !"display p3".contains(only) { return }
        let size = PixelSize(width: 3_000, height: 2_000)
        let photograph = try ImageDecoder.decode(try SyntheticPhotograph.jpeg(size: size))
        let pixels = photograph.pixels
        let profile = [UInt8](unsafeUninitializedCapacity: 4_096) { bytes, count in
            count = eidetic_bare_display_p3(bytes.baseAddress, bytes.count)
        }
        var target = [UInt8](repeating: 0, count: 4 * size.pixelCount)
        func convertWithLibrary(_ pixels: UnsafePointer<UInt8>?) {
            eidetic_bare_lcms_convert(profile, profile.count, pixels, size.pixelCount, &target)
        }
        let bitmap = pixels.bitmap(with: profile)
        try await compare(
            BenchmarkCase("display p3 to srgb", unit: .milliseconds, goal: .ratio(0.25)),
            with: "lcms2, which reads no file",
            ours: { blackHole(try ImageDecoder.decode(bitmap)) },
            theirs: {
                pixels.withUnsafeBytes { convertWithLibrary($0.assumingMemoryBound(to: UInt8.self).baseAddress) }
            }
        )
        var options = EncodeOptions()
        options.metadata = ImageMetadata(iccProfile: profile)
        let jpeg = try ImageEncoder.encode(photograph, as: .jpeg, options: options)
        try await compare(
            BenchmarkCase("jpeg in display p3", unit: .milliseconds, goal: .ratio(0.7)),
            with: "libjpeg-turbo and lcms2",
            ours: { blackHole(try ImageDecoder.decode(jpeg)) },
            theirs: {
                let pixels = jpeg.withUnsafeBufferPointer { eidetic_bare_jpeg_decode($0.baseAddress, $0.count, 1) }
                defer { free(pixels) }
                convertWithLibrary(pixels)
            }
        )
    }
}

extension PixelBuffer {
    /// Returns a BMP file of 24 bits per pixel in the colours of a profile.
    fileprivate func bitmap(with profile: [UInt8]) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        precondition(3 * size.width % 4 == 0)
        let count = 3 * size.pixelCount
        var file = Array("BM".utf8) + number(14 + 124 + count + profile.count) + number(0) + number(14 + 124)
        file += number(124) + number(size.width) + number(size.height) + [1, 0, 24, 0] + number(0)
        // The profile is embedded, behind the pixels.
        file += Array(repeating: 0, count: 36) + number(0x4d42_4544) + Array(repeating: 0, count: 48)
        file += number(4) + number(124 + count) + number(profile.count) + number(0)
        withUnsafeBytes { pixels in
            for y in (0..<size.height).reversed() {
                for offset in stride(from: y * bytesPerRow, to: y * bytesPerRow + 4 * size.width, by: 4) {
                    file += [pixels[offset + 2], pixels[offset + 1], pixels[offset]]
                }
            }
        }
        return file + profile
    }
}
