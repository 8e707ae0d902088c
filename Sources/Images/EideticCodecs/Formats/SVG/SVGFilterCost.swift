#if SVG
/// The time that librsvg takes for one filter primitive, in nanoseconds per pixel of the image.
///
/// Measured with librsvg 2.54 on images of 4 megapixels; docs/decisions/0077-limits-within-one-call.md has the figures.
enum SVGFilterCost {
    /// Returns the time of an element; 0 if it is no filter primitive.
    ///
    /// `scale` is the number of pixels per unit of the document.
    static func nanoseconds(of name: String, attributes: [SVGMarkup.Attribute], scale: Double) -> Double {
        func value(_ name: String, default standard: Double) -> Double {
            // Those of other namespaces have the same name here.
            attributes.filter { $0.name == name }.map { largestNumber(in: $0.value) }.max() ?? standard
        }
        switch name {
        case "feTurbulence": return 150 + 55 * max(1, value("numOctaves", default: 1))
        case "feGaussianBlur": return 300
        case "feDropShadow": return 400
        case "feConvolveMatrix": return 200 + 10 * value("order", default: 3) * value("order", default: 3)
        case "feMorphology":
            let side = 2 * scale * value("radius", default: 0) + 1
            return 200 + 8 * side * side
        case "feDisplacementMap": return 900
        case "feSpecularLighting", "feDiffuseLighting": return 100
        case let name where name.hasPrefix("fe"): return 50
        default: return 0
        }
    }

    /// The time of a function in a `filter` property, such as `blur(3px)`.
    static let nanosecondsOfFunction = 400.0

    /// Returns the largest number in a list; infinity if the list has anything else.
    private static func largestNumber(in list: String) -> Double {
        let parts = list.split { $0 == "," || $0.isWhitespace }
        return parts.map { Double($0).map(abs) ?? .infinity }.max() ?? 0
    }
}
#endif
