import EideticCodecs
import EideticCore

/// A transform as a word of the command line, such as `blur=8`.
enum TransformArgument {
    /// A transform and the form in which it is written.
    private struct Kind {
        let name: String
        let synopsis: String
        let make: @Sendable ([Substring]) -> (any ImageTransform)?
    }

    /// The names of all transforms, for completions.
    static var names: [String] { kinds.map(\.name) }

    /// The forms of all transforms, for help texts.
    static var synopses: [String] { kinds.map(\.synopsis) }

    private static let kinds: [Kind] = [
        Kind(name: "resize", synopsis: "resize=WxH[,fit|fill|fillCropped|stretch]") { values in
            guard (1...2).contains(values.count), let size = PixelSize(parsing: String(values[0])),
                let mode = values.count == 1 ? .fit : ContentMode(named: values[1])
            else { return nil }
            return ImageTransforms.Resize(size, contentMode: mode)
        },
        Kind(name: "crop", synopsis: "crop=WxH+X+Y") { values in
            values.count == 1 ? PixelRect(parsing: String(values[0])).map(ImageTransforms.Crop.init) : nil
        },
        Kind(name: "round", synopsis: "round=RADIUS") { values in
            number(values, in: 0...1e6).map { ImageTransforms.RoundedCorners(radius: $0) }
        },
        Kind(name: "circle", synopsis: "circle") { $0.isEmpty ? ImageTransforms.Circle() : nil },
        Kind(name: "border", synopsis: "border=WIDTH[,COLOUR]") { values in
            guard values.count <= 2, let width = number(values.prefix(1), in: 0...1e6) else { return nil }
            guard values.count == 2 else { return ImageTransforms.Border(width: width) }
            return ImageColor(hex: String(values[1])).map { ImageTransforms.Border(width: width, color: $0) }
        },
        Kind(name: "rotate", synopsis: "rotate=DEGREES") { values in
            number(values, in: -1e6...1e6).map { ImageTransforms.Rotation(degrees: $0) }
        },
        Kind(name: "flip", synopsis: "flip[=vertical]") { values in
            guard values.isEmpty || values == ["horizontal"] else {
                return values == ["vertical"] ? ImageTransforms.Flip(horizontal: false, vertical: true) : nil
            }
            return ImageTransforms.Flip()
        },
        Kind(name: "tint", synopsis: "tint=COLOUR") { values in
            values.count == 1 ? ImageColor(hex: String(values[0])).map(ImageTransforms.Tint.init) : nil
        },
        Kind(name: "grayscale", synopsis: "grayscale") { $0.isEmpty ? ImageTransforms.Grayscale() : nil },
        Kind(name: "blur", synopsis: "blur[=RADIUS]") { values in
            guard !values.isEmpty else { return ImageTransforms.GaussianBlur() }
            return number(values, in: 0...1e6).map { ImageTransforms.GaussianBlur(radius: $0) }
        },
        Kind(name: "sharpen", synopsis: "sharpen[=AMOUNT]") { values in
            guard !values.isEmpty else { return ImageTransforms.Sharpening() }
            return number(values, in: 0...16).map { ImageTransforms.Sharpening(amount: $0) }
        },
    ]

    /// Returns the transform that a word names; `nil` if it names none, or its values are invalid.
    static func transform(_ text: String) -> (any ImageTransform)? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = kinds.first(where: { $0.name == parts[0] }) else { return nil }
        let values = parts.count == 2 ? parts[1].split(separator: ",", omittingEmptySubsequences: false) : []
        return kind.make(values)
    }

    private static func number(_ values: some Collection<Substring>, in range: ClosedRange<Double>) -> Double? {
        guard values.count == 1, let number = values.first.flatMap({ Double($0) }), range.contains(number) else {
            return nil
        }
        return number
    }
}

extension PixelRect {
    /// Creates a rectangle from `WxH+X+Y`, as in `640x480+10+20`.
    init?(parsing text: String) {
        let parts = text.split(separator: "+", omittingEmptySubsequences: false)
        let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false)
        let numbers = (sides + parts.dropFirst()).compactMap { $0.allSatisfy(\.isNumber) ? Int($0) : nil }
        guard parts.count == 3, sides.count == 2, numbers.count == 4, numbers[0] > 0, numbers[1] > 0 else { return nil }
        self.init(x: numbers[2], y: numbers[3], width: numbers[0], height: numbers[1])
    }
}
