import CBareJPEG
import EideticCore
import EideticTestSupport
import Glibc

/// A synthetic image with the statistics of a photograph: structure at all scales, soft colours, sensor noise.
///
/// The seed is fixed, so that all runs decode the same image.
enum SyntheticPhotograph {
    /// Returns a JPEG of the photograph; 12 megapixels, some megabytes, by default.
    static func jpeg(size: PixelSize = PixelSize(width: 4_000, height: 3_000)) throws(EideticError) -> [UInt8] {
        let pixels = pixels(size: size)
        var count = 0
        let bytes = eidetic_bare_jpeg_encode(pixels, UInt32(size.width), UInt32(size.height), 88, 0, &count)
        guard let bytes else { throw EideticError(.encodingFailed, message: "the JPEG library encoded no image") }
        defer { free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Returns the pixels, four bytes each: red, green, blue, alpha.
    private static func pixels(size: PixelSize) -> [UInt8] {
        let layers = [512, 128, 32, 8].map { ValueNoise(cell: $0, size: size) }
        let colours = [ValueNoise(cell: 700, size: size), ValueNoise(cell: 300, size: size)]
        var sensor = SplitMix(state: 7)
        var pixels = [UInt8](repeating: 255, count: 4 * size.pixelCount)
        for y in 0..<size.height {
            for x in 0..<size.width {
                var light = Float(sensor.next() & 7)
                for (octave, layer) in layers.enumerated() {
                    light += 58 * layer.value(x: x, y: y) / Float(1 << octave)
                }
                let offset = 4 * (y * size.width + x)
                pixels[offset] = UInt8(clamping: Int(light + 60 * colours[0].value(x: x, y: y)))
                pixels[offset + 1] = UInt8(clamping: Int(light + 50))
                pixels[offset + 2] = UInt8(clamping: Int(light + 60 * colours[1].value(x: x, y: y)))
            }
        }
        return pixels
    }
}

/// Value noise: random values on a grid, with bilinear interpolation.
private struct ValueNoise {
    private let cell: Int
    private let columns: Int
    private let values: [Float]

    init(cell: Int, size: PixelSize) {
        self.cell = cell
        columns = size.width / cell + 2
        var random = SplitMix(state: UInt64(cell))
        values = (0..<columns * (size.height / cell + 2)).map { _ in Float(random.next() & 0xffff) / 65_535 }
    }

    /// Returns the noise at a pixel, from 0 to 1.
    func value(x: Int, y: Int) -> Float {
        let index = y / cell * columns + x / cell
        let (right, down) = (Float(x % cell) / Float(cell), Float(y % cell) / Float(cell))
        let upper = values[index] + right * (values[index + 1] - values[index])
        let lower = values[index + columns] + right * (values[index + columns + 1] - values[index + columns])
        return upper + down * (lower - upper)
    }
}
