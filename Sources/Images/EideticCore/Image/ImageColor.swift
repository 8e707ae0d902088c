/// A colour in sRGB with straight alpha.
public struct ImageColor: Hashable, Sendable, CustomStringConvertible {
    /// The red component.
    public var red: UInt8
    /// The green component.
    public var green: UInt8
    /// The blue component.
    public var blue: UInt8
    /// The opacity: 255 is opaque.
    public var alpha: UInt8

    /// Creates a colour; by default it is opaque.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Creates a colour from `#rgb`, `#rrggbb` or `#rrggbbaa`; the `#` can be omitted.
    ///
    /// - Returns: `nil` for any other text.
    public init?(hex: String) {
        var digits = Array((hex.hasPrefix("#") ? hex.dropFirst() : hex[...]).utf8)
        if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
        if digits.count == 6 { digits += Array("ff".utf8) }
        let values = digits.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
        guard digits.count == 8, values.count == 8 else { return nil }
        let bytes = stride(from: 0, to: 8, by: 2).map { values[$0] << 4 | values[$0 + 1] }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes[3])
    }

    /// The colour as `#rrggbb`, or as `#rrggbbaa` if it is not opaque.
    public var description: String {
        let components = alpha == 255 ? [red, green, blue] : [red, green, blue, alpha]
        return "#" + components.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
    }

    /// Opaque black.
    public static let black = ImageColor(red: 0, green: 0, blue: 0)
    /// Opaque white.
    public static let white = ImageColor(red: 255, green: 255, blue: 255)
    /// Transparent black.
    public static let clear = ImageColor(red: 0, green: 0, blue: 0, alpha: 0)

    /// Red, green, blue and alpha, multiplied by alpha.
    package var premultiplied: [UInt8] {
        [red, green, blue].map { UInt8((Int($0) * Int(alpha) + 127) / 255) } + [alpha]
    }
}
