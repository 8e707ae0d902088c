package import EideticCore

/// ThumbHash: the colours, the alpha and the proportions of an image, blurred, in at most 25 bytes.
///
/// - SeeAlso: The algorithm at https://github.com/evanw/thumbhash.
package enum ThumbHash {
    /// One channel of the hash: its mean, and its other frequencies as parts of the largest one.
    private struct Channel {
        let mean: Double
        let scale: Double
        let parts: [Double]

        init(_ channel: Int, of means: [[SIMD4<Double>]], count: PixelSize) {
            let others = ThumbHash.frequencies(count).map { means[$0.y][$0.x][channel] }
            let largest = others.map { abs($0) }.max() ?? 0
            mean = means[0][0][channel]
            scale = largest
            parts = others.map { largest == 0 ? $0 : 0.5 + 0.5 / largest * $0 }
        }
    }

    /// The frequencies of a channel but the mean: those in the upper left triangle.
    private static func frequencies(_ count: PixelSize) -> [(x: Int, y: Int)] {
        (0..<count.height).flatMap { y in
            (0..<count.width).filter { (y > 0 || $0 > 0) && $0 * count.height < count.width * (count.height - y) }
                .map { (x: $0, y: y) }
        }
    }

    private static let chromaCount = PixelSize(width: 3, height: 3)
    private static let alphaCount = PixelSize(width: 5, height: 5)

    /// Returns the hash of an image; large ones are scaled down first.
    ///
    /// - Throws: `outOfMemory`.
    package static func encode(_ pixels: PixelBuffer) throws(EideticError) -> [UInt8] {
        let pixels = try pixels.sample(side: 100).unpremultiplied()
        let size = pixels.size
        let colours = colours(of: pixels)
        let hasAlpha = colours.contains { $0.w < 1 }
        let limit = Double(hasAlpha ? 5 : 7)
        let side = Double(max(size.width, size.height))
        let across = max(1, Int((limit * Double(size.width) / side).rounded()))
        let down = max(1, Int((limit * Double(size.height) / side).rounded()))
        let lumaCount = PixelSize(width: max(3, across), height: max(3, down))
        let count = hasAlpha ? alphaCount : lumaCount
        let means = CosineSums(size: size, count: count, isCentred: true).means(of: colours)
        return bytes(
            luma: Channel(0, of: means, count: lumaCount),
            chroma: [1, 2].map { Channel($0, of: means, count: chromaCount) },
            alpha: hasAlpha ? Channel(3, of: means, count: alphaCount) : nil,
            side: size.width > size.height ? down : across,
            isLandscape: size.width > size.height
        )
    }

    /// Returns luma, yellow, red and alpha of all pixels, on the mean colour, which transparent parts have.
    private static func colours(of pixels: PixelBuffer) -> [SIMD4<Double>] {
        let colours = pixels.map { pixel in
            let value = SIMD4<Double>(pixel) / 255
            return SIMD4(value.x * value.w, value.y * value.w, value.z * value.w, value.w)
        }
        let sum = colours.reduce(.zero, +)
        let mean = sum.w > 0 ? sum / sum.w : .zero
        return colours.map { colour in
            let value = colour + mean * (1 - colour.w)
            let yellow = (value.x + value.y) / 2
            return SIMD4((value.x + value.y + value.z) / 3, yellow - value.z, value.x - value.y, colour.w)
        }
    }

    private static func bytes(
        luma: Channel,
        chroma: [Channel],
        alpha: Channel?,
        side: Int,
        isLandscape: Bool
    ) -> [UInt8] {
        func level(_ value: Double) -> Int { Int(value.rounded()) }
        let first =
            level(63 * luma.mean) | level(31.5 + 31.5 * chroma[0].mean) << 6
            | level(31.5 + 31.5 * chroma[1].mean) << 12 | level(31 * luma.scale) << 18 | (alpha == nil ? 0 : 1) << 23
        let second =
            side | level(63 * chroma[0].scale) << 3 | level(63 * chroma[1].scale) << 9 | (isLandscape ? 1 : 0) << 15
        var bytes = [first & 255, first >> 8 & 255, first >> 16, second & 255, second >> 8].map { UInt8($0) }
        if let alpha { bytes.append(UInt8(level(15 * alpha.mean) | level(15 * alpha.scale) << 4)) }
        let parts = ([luma] + chroma + (alpha.map { [$0] } ?? [])).flatMap(\.parts).map { UInt8(level(15 * $0)) }
        for index in stride(from: 0, to: parts.count, by: 2) {
            bytes.append(parts[index] | (index + 1 < parts.count ? parts[index + 1] << 4 : 0))
        }
        return bytes
    }

    private struct Content {
        var hasAlpha = false
        var count = PixelSize(width: 7, height: 7)
        /// The means of luma, yellow, red and alpha.
        var means: [Double] = []
        /// The other frequencies of the same channels.
        var parts: [[Double]] = []

        var ratio: Double = 1

        init?(_ bytes: [UInt8]) {
            guard bytes.count >= 5 else { return nil }
            let first = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16,
                second = Int(bytes[3]) | Int(bytes[4]) << 8
            hasAlpha = first >> 23 == 1
            guard !hasAlpha || bytes.count >= 6 else { return nil }
            let isLandscape = second >> 15 == 1
            let long = hasAlpha ? 5 : 7
            let short = second & 7
            ratio = isLandscape ? Double(long) / Double(max(1, short)) : Double(max(1, short)) / Double(long)
            count = PixelSize(width: max(3, isLandscape ? long : short), height: max(3, isLandscape ? short : long))
            means = [
                Double(first & 63) / 63, Double(first >> 6 & 63) / 31.5 - 1, Double(first >> 12 & 63) / 31.5 - 1,
                hasAlpha ? Double(bytes[5] & 15) / 15 : 1,
            ]
            let scales = [
                Double(first >> 18 & 31) / 31, Double(second >> 3 & 63) / 63 * 1.25,
                Double(second >> 9 & 63) / 63 * 1.25,
                hasAlpha ? Double(bytes[5] >> 4) / 15 : 0,
            ]
            var halves = bytes.dropFirst(hasAlpha ? 6 : 5).flatMap { [$0 & 15, $0 >> 4] }[...]
            for (scale, count) in zip(scales, counts) {
                let length = ThumbHash.frequencies(count).count
                guard halves.count >= length else { return nil }
                parts.append(halves.prefix(length).map { (Double($0) / 7.5 - 1) * scale })
                halves = halves.dropFirst(length)
            }
        }

        /// The numbers of frequencies of the channels; alpha has none without alpha.
        var counts: [PixelSize] { [count, chromaCount, chromaCount] + (hasAlpha ? [alphaCount] : []) }
    }

    /// Returns the blurred image of a hash, in its proportions, with a longer side of 32 pixels.
    ///
    /// - Throws: `invalidArgument` if the bytes are no ThumbHash, `outOfMemory`.
    package static func decode(_ bytes: [UInt8]) throws(EideticError) -> PixelBuffer {
        guard let content = Content(bytes) else {
            throw EideticError(.invalidArgument, message: "\(bytes.count) bytes are not a ThumbHash")
        }
        let (ratio, counts) = (content.ratio, content.counts)
        let size = PixelSize(
            width: max(1, Int((ratio > 1 ? 32 : 32 * ratio).rounded())),
            height: max(1, Int((ratio > 1 ? 32 / ratio : 32).rounded()))
        )
        let channels = counts.indices.map { index in
            values(of: size, mean: content.means[index], parts: content.parts[index], count: counts[index])
        }
        let straight = try PixelBuffer(size: size, alpha: content.hasAlpha ? .straight : .opaque) { target, stride in
            for index in size.indices {
                let alpha = content.hasAlpha ? channels[3][index] : 1
                let pixel = colour(
                    luma: channels[0][index],
                    yellow: channels[1][index],
                    red: channels[2][index],
                    alpha: alpha
                )
                let offset = index / size.width * stride + 4 * (index % size.width)
                target.storeBytes(of: pixel, toByteOffset: offset, as: SIMD4<UInt8>.self)
            }
        }
        return try straight.premultiplied()
    }

    private static func values(of size: PixelSize, mean: Double, parts: [Double], count: PixelSize) -> [Double] {
        let sums = CosineSums(size: size, count: count, isCentred: true)
        let frequencies = frequencies(count)
        return size.indices.map { index in
            let position = (x: index % size.width, y: index / size.width)
            return zip(parts, frequencies).reduce(mean) { $0 + 2 * $1.0 * sums.weight($1.1, at: position) }
        }
    }

    private static func colour(luma: Double, yellow: Double, red: Double, alpha: Double) -> SIMD4<UInt8> {
        let blue = luma - 2 / 3 * yellow
        let redPart = (3 * luma - blue + red) / 2
        func byte(_ value: Double) -> UInt8 { UInt8(255 * min(max(value, 0), 1)) }
        return SIMD4(byte(redPart), byte(redPart - red), byte(blue), byte(alpha))
    }
}

extension PixelSize {
    /// The indices of all pixels, row by row.
    fileprivate var indices: Range<Int> { 0..<pixelCount }
}
