#if SVG
package import EideticCore

/// An estimate of the work of drawing an SVG document.
///
/// librsvg bounds the number of elements, but not the work of filters and layers, each of which may cover the whole
/// image, and it cannot be interrupted.
package struct SVGWorkload {
    /// The work of an element with everything in it and everything that it refers to.
    struct Cost {
        /// The time of filters and layers in nanoseconds per pixel of the image.
        var nanoseconds = 0.0
        /// The number of elements.
        var elements = 0.0

        static func + (first: Cost, second: Cost) -> Cost {
            Cost(nanoseconds: first.nanoseconds + second.nanoseconds, elements: first.elements + second.elements)
        }

        static func * (cost: Cost, factor: Double) -> Cost {
            Cost(nanoseconds: cost.nanoseconds * factor, elements: cost.elements * factor)
        }
    }

    /// The maximum number of drawn elements, counting each use of one; librsvg allows half as many uses.
    package static let maximumElementCount = 1_000_000

    /// The maximum time of filters and layers in nanoseconds: about four minutes.
    ///
    /// As if each covered the whole image, so documents with many small ones take a fraction of it.
    package static let maximumNanoseconds = 0x1p38

    private let cost: Cost

    /// The time of filters and layers in nanoseconds per pixel.
    package var nanosecondsPerPixel: Double { cost.nanoseconds }

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - scale: The number of pixels per unit of the document.
    ///   - limits: The limits of embedded images.
    /// - Throws: `limitExceeded` or `unsupportedFormat` if it contains what cannot be estimated.
    package init(_ bytes: UnsafeRawBufferPointer, scale: Double = 1, limits: DecodeLimits = .standard)
        throws(EideticError)
    {
        let sheet = try SVGStyleSheet(bytes)
        var tree = SVGElementTree(sheet: sheet, scale: scale, limits: limits)
        try tree.read(bytes)
        cost = try tree.totalCost()
    }

    /// Throws `limitExceeded` if drawing the document at this size would take too long.
    package func check(size: PixelSize) throws(EideticError) {
        guard cost.elements <= Double(Self.maximumElementCount) else {
            let limit = "the limit is \(Self.maximumElementCount)"
            throw EideticError(.limitExceeded, message: "svg: \(cost.elements) elements are drawn; \(limit)")
        }
        guard cost.nanoseconds * Double(size.pixelCount) <= Self.maximumNanoseconds else {
            let work = "filters and layers of \(cost.nanoseconds) ns per pixel for \(size) pixels"
            throw EideticError(.limitExceeded, message: "svg: \(work); the limit is \(Self.maximumNanoseconds) ns")
        }
    }
}
#endif
