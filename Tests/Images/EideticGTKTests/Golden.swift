#if GTK
import EideticCodecs
import EideticCore
import EideticGTK
import Glibc
import Testing

/// The expected screenshot of a scene: `Goldens/NAME.png`.
///
/// With `EIDETIC_RENEW_GOLDENS=1` the current screenshot becomes the golden; look at it before you commit it.
struct Golden {
    /// The largest difference of a channel, due to rounding on the way to the screen.
    static let tolerance = 6

    /// The largest fraction of pixels that may differ more: edges that versions of a library smooth differently.
    static let allowedDifference = 0.001

    let name: String
    private let files = FileSystem()

    init(_ name: String) { self.name = name }

    private var path: String {
        let here = #filePath
        return "\(here.prefix(here.count - "Golden.swift".count))Goldens/\(name).png"
    }

    /// Returns the golden's pixels.
    func pixels() throws -> PixelBuffer { try Self.decode(try files.contents(of: path)) }

    /// Compares a screenshot, a PNG, with the golden; a screenshot that differs is saved for inspection.
    func expect(_ screen: [UInt8], location: SourceLocation = #_sourceLocation) throws {
        if getenv("EIDETIC_RENEW_GOLDENS") != nil { return try write(screen, to: path) }
        let actual = try Self.decode(screen), expected = try pixels()
        #expect(actual.size == expected.size, sourceLocation: location)
        guard actual.size == expected.size else { return }
        let difference = Self.difference(between: actual, and: expected)
        guard difference > Self.allowedDifference else { return }
        let outputPath = "\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/eidetic-golden-\(name).png"
        try write(screen, to: outputPath)
        Issue.record(
            "\(difference * 100) % of \(name) differ; the screenshot is in \(outputPath)",
            sourceLocation: location
        )
    }

    /// Returns the fraction of pixels that differ by more than the tolerance, with `expected` shifted by some pixels.
    static func difference(between actual: PixelBuffer, and expected: PixelBuffer, shiftedBy: (x: Int, y: Int) = (0, 0))
        -> Double
    {
        var count = 0
        for y in shiftedBy.y..<actual.size.height {
            for x in shiftedBy.x..<actual.size.width {
                let actualPixel = actual[x, y], expectedPixel = expected[x - shiftedBy.x, y - shiftedBy.y]
                let isAlike = (0..<4).allSatisfy { abs(Int(actualPixel[$0]) - Int(expectedPixel[$0])) <= tolerance }
                if !isAlike { count += 1 }
            }
        }
        return Double(count) / Double(actual.size.pixelCount)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        try files.replaceContents(of: path, with: bytes)
    }

    private static func decode(_ bytes: [UInt8]) throws -> PixelBuffer { try ImageDecoder.decode(bytes).pixels }
}
#endif
