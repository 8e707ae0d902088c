import CPixels
import EideticCore

/// The search for the part of an image that matters: edges, saturated colours and skin, more so in colours that are
/// rare in the image; in whole numbers.
struct ContentFocus {
    /// The columns and rows of the map, each a cell of the image.
    private let size: PixelSize
    /// The weight of each cell, row by row.
    private let weights: [Int]

    private static let longestSide = 64

    /// Creates the map of an image.
    ///
    /// - Throws: `outOfMemory`.
    init(of pixels: PixelBuffer) throws(EideticError) {
        let side = max(1, (max(pixels.size.width, pixels.size.height) + Self.longestSide - 1) / Self.longestSide)
        let cells = try Self.averages(of: pixels, side: min(side, 256))
        let size = cells.size
        let colours = (0..<size.pixelCount).map { cells[$0 % size.width, $0 / size.width] }
        let lumas = colours.map(Self.luma)
        let rarities = Self.rarities(of: colours)
        self.size = size
        weights = colours.indices.map { index in
            let edge = Self.edge(in: lumas, atX: index % size.width, y: index / size.width, size: size)
            return (Self.weight(of: colours[index]) + 2 * edge) * rarities[index] * rarities[index]
        }
    }

    /// Returns the point around which a crop shows what matters.
    ///
    /// - Parameters:
    ///   - crop: The size of the crop.
    ///   - whole: The size of the image, in the same unit.
    /// - Returns: The point in fractions of the width and height.
    func point(cropping crop: PixelSize, of whole: PixelSize) -> (x: Double, y: Double) {
        let columns = (0..<size.width).map { x in
            stride(from: x, to: weights.count, by: size.width).reduce(0) { $0 + weights[$1] }
        }
        let rows = (0..<size.height).map { y in weights[y * size.width..<(y + 1) * size.width].reduce(0, +) }
        return (
            Self.centre(of: columns, part: Double(crop.width) / Double(whole.width)),
            Self.centre(of: rows, part: Double(crop.height) / Double(whole.height))
        )
    }

    /// Returns the centre of the best window over a profile; cells in its middle count more than those at its ends.
    private static func centre(of profile: [Int], part: Double) -> Double {
        let length = min(profile.count, max(1, Int((Double(profile.count) * part).rounded()))),
            slack = profile.count - length
        guard slack > 0 else { return 0.5 }
        let slope = max(1, length / 4)
        var best = (score: -1, distance: 0, start: 0)
        for start in 0...slack {
            let score = (0..<length).reduce(0) { $0 + profile[start + $1] * min($1 + 1, length - $1, slope) }
            // Of two windows that are nearly as good, the one in the middle is better.
            let distance = abs(2 * start - slack)
            let biased = score * (8 * slack - distance) / (8 * slack)
            if biased > best.score || biased == best.score && distance < best.distance {
                best = (biased, distance, start)
            }
        }
        return (Double(best.start) + Double(length) / 2) / Double(profile.count)
    }
}

// MARK: Cells
extension ContentFocus {
    private static func averages(of pixels: PixelBuffer, side: Int) throws(EideticError) -> PixelBuffer {
        let pixels = try pixels.premultiplied()
        let size = PixelSize(
            width: (pixels.size.width + side - 1) / side,
            height: (pixels.size.height + side - 1) / side
        )
        let scratch = try ScratchBuffer(byteCount: 8 * pixels.size.width)
        let sums = scratch.bytes.baseAddress
        return try PixelBuffer(size: size, alpha: pixels.alpha) { target, stride in
            pixels.withKernelSource { source in
                let target = target.kernelTarget(stride: stride)
                eidetic_pixels_average(source, eidetic_cell(width: side, height: side), 0, target, sums)
            }
        }
    }

    private static func luma(_ pixel: SIMD4<UInt8>) -> Int {
        (54 * Int(pixel.x) + 183 * Int(pixel.y) + 19 * Int(pixel.z)) >> 8
    }

    /// Returns the rarity of each colour: 1 for one of more than half of the cells, and one more for each time that the
    /// number of cells like it is halved.
    private static func rarities(of colours: [SIMD4<UInt8>]) -> [Int] {
        func bin(_ colour: SIMD4<UInt8>) -> Int {
            Int(colour.x >> 5) << 6 | Int(colour.y >> 5) << 3 | Int(colour.z >> 5)
        }
        var counts = [Int](repeating: 0, count: 512)
        for colour in colours { counts[bin(colour)] += 1 }
        return colours.map { Int.bitWidth - (colours.count / counts[bin($0)]).leadingZeroBitCount }
    }

    /// Returns the difference of a cell to its neighbours, 0 to 255.
    private static func edge(in lumas: [Int], atX x: Int, y: Int, size: PixelSize) -> Int {
        func luma(atX x: Int, y: Int) -> Int {
            lumas[min(max(y, 0), size.height - 1) * size.width + min(max(x, 0), size.width - 1)]
        }
        let sum = luma(atX: x - 1, y: y) + luma(atX: x + 1, y: y) + luma(atX: x, y: y - 1) + luma(atX: x, y: y + 1)
        return min(255, abs(4 * luma(atX: x, y: y) - sum))
    }

    /// Returns the weight of a colour: that of its saturation, and that of skin.
    private static func weight(of pixel: SIMD4<UInt8>) -> Int {
        let (red, green, blue) = (Int(pixel.x), Int(pixel.y), Int(pixel.z)), luma = luma(pixel)
        guard (24...240).contains(luma) else { return 0 }
        let saturation = max(0, max(red, green, blue) - min(red, green, blue) - 64)
        let blueDifference = 128 + (-43 * red - 85 * green + 128 * blue) >> 8
        let redDifference = 128 + (128 * red - 107 * green - 21 * blue) >> 8
        let isSkin = luma > 60 && (77...127).contains(blueDifference) && (137...173).contains(redDifference)
        return saturation / 2 + (isSkin ? 128 : 0)
    }
}
