/// A width and a height in pixels.
public struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    /// Pixels from left to right.
    public var width: Int
    /// Pixels from top to bottom.
    public var height: Int

    /// Creates a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// `640x480`.
    public var description: String { "\(width)x\(height)" }

    /// Reads `WIDTHxHEIGHT`; either may be left out (`400x`, `x300`), and one number alone means a square.
    ///
    /// A side that is left out is without limit. `nil` where the text is no such size or a side is not positive.
    public init?(parsing text: String) {
        let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        guard (1...2).contains(sides.count), sides.contains(where: { !$0.isEmpty }) else { return nil }
        var numbers: [Int] = []
        for side in sides {
            guard !side.isEmpty else { numbers.append(Self.unlimitedSide); continue }
            guard side.allSatisfy(\.isNumber), let number = Int(side), (1...Self.unlimitedSide).contains(number)
            else { return nil }
            numbers.append(number)
        }
        self.init(width: numbers[0], height: numbers.count == 2 ? numbers[1] : numbers[0])
    }

    /// A side so long that it limits nothing: 2³⁰.
    public static let unlimitedSide = 1 << 30

    /// The number of pixels, or the largest number where it does not fit.
    public var pixelCount: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }

    /// Width and height exchanged.
    public var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// Whether both sides are at least 1.
    public var isPositive: Bool { width > 0 && height > 0 }
}

/// How a picture is fitted to a wanted size; its proportions are always kept.
public enum ContentMode: String, Hashable, Sendable {
    /// All of it is seen: neither side is longer than wanted.
    case fit
    /// The wanted size is covered: neither side is shorter than wanted, as far as the picture has the pixels.
    case fill
}

extension PixelSize {
    /// The size at which this picture is to be decoded to be seen at `wanted`; never larger than the picture.
    public func scaled(to wanted: PixelSize, mode: ContentMode) -> PixelSize {
        guard isPositive, wanted.isPositive else { return self }
        let horizontal = Double(wanted.width) / Double(width)
        let vertical = Double(wanted.height) / Double(height)
        let factor = mode == .fit ? min(horizontal, vertical) : max(horizontal, vertical)
        guard factor < 1 else { return self }
        return PixelSize(
            width: max(1, Int((Double(width) * factor).rounded())),
            height: max(1, Int((Double(height) * factor).rounded()))
        )
    }
}
