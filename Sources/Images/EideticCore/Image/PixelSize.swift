/// A width and a height in pixels.
public struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int

    /// Creates a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The size as text, as in `640x480`.
    public var description: String { "\(width)x\(height)" }

    /// Creates a size from `WIDTHxHEIGHT`; one side may be omitted (`400x`, `x300`), and a single number means a
    /// square.
    ///
    /// An omitted side is unlimited.
    ///
    /// - Returns: `nil` if the text is not such a size, or a side is not positive.
    package init?(parsing text: String) {
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

    /// The length of an unlimited side: 2³⁰.
    package static let unlimitedSide = 1 << 30

    /// The number of pixels, or `Int.max` if it does not fit.
    public var pixelCount: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }

    /// The size with width and height exchanged.
    package var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// A Boolean value indicating whether both sides are at least 1.
    package var isPositive: Bool { width > 0 && height > 0 }
}

extension PixelSize {
    /// Returns the size of an image of this size that is scaled, and with `fillCropped` cropped, for `target`.
    ///
    /// No side is longer than the image's. A side of `target` of 2³⁰ or more is unlimited: then `fillCropped` and
    /// `stretch` have the result of `fit`.
    package func scaled(to target: PixelSize, mode: ContentMode) -> PixelSize {
        guard isPositive, target.isPositive else { return self }
        switch mode {
        case .fit: return scaled(to: target) { min($0, $1) }
        case .fill: return scaled(to: target) { max($0, $1) }
        case .fillCropped, .stretch:
            return target.isLimited ? target.scaled(to: self, mode: .fit) : scaled(to: target, mode: .fit)
        }
    }

    /// Returns the size of the image, scaled for `target`: with `fillCropped` that before it is cropped.
    package func scaledBeforeCrop(to target: PixelSize, mode: ContentMode, upscales: Bool = false) -> PixelSize {
        let mode = mode.focus != nil && target.isLimited ? .fill : mode
        guard upscales, isPositive, target.isPositive else { return scaled(to: target, mode: mode) }
        switch mode {
        case .stretch where target.isLimited: return target
        case .fill where target.isLimited: return scaled(to: target, upscales: true) { max($0, $1) }
        default: return scaled(to: target, upscales: true) { min($0, $1) }
        }
    }

    /// A Boolean value indicating whether both sides have a limit.
    package var isLimited: Bool { max(width, height) < Self.unlimitedSide }

    private func scaled(
        to target: PixelSize,
        upscales: Bool = false,
        factor select: (Double, Double) -> Double
    ) -> PixelSize {
        let factor = select(Double(target.width) / Double(width), Double(target.height) / Double(height))
        guard factor < 1 || upscales else { return self }
        return PixelSize(
            width: max(1, Int((Double(width) * factor).rounded())),
            height: max(1, Int((Double(height) * factor).rounded()))
        )
    }
}
