#if GTK
import EideticCore
import EideticGTK
import Glibc
import Testing

/// What a scene is to look like: `Goldens/NAME.png`.
///
/// With `EIDETIC_RENEW_GOLDENS=1` what is seen now becomes the golden; look at it before it is committed.
struct Golden {
    /// How far a channel may be off: rounding on the way to the screen.
    static let tolerance = 6

    /// How many of all pixels may be off further: edges that another version of a library smooths in another way.
    static let share = 0.001

    let name: String
    private let files = FileSystem()

    init(_ name: String) { self.name = name }

    private var path: String {
        let here = #filePath
        return "\(here.prefix(here.count - "Golden.swift".count))Goldens/\(name).png"
    }

    /// The golden's pixels.
    func pixels() throws -> PixelBuffer { try Self.decode(try files.contents(of: path)) }

    /// Compares what is seen, a PNG, with the golden; what differs is kept for the eye.
    func expect(_ screen: [UInt8], _ location: SourceLocation = #_sourceLocation) throws {
        if getenv("EIDETIC_RENEW_GOLDENS") != nil { return try write(screen, to: path) }
        let seen = try Self.decode(screen), wanted = try pixels()
        #expect(seen.size == wanted.size, sourceLocation: location)
        guard seen.size == wanted.size else { return }
        let share = Self.difference(seen, wanted)
        guard share > Self.share else { return }
        let kept = "\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/eidetic-golden-\(name).png"
        try write(screen, to: kept)
        Issue.record("\(share * 100) % of \(name) differ; what was seen is in \(kept)", sourceLocation: location)
    }

    /// The share of pixels of `seen` that are not as in `wanted`, where `wanted` is moved by so many pixels.
    static func difference(_ seen: PixelBuffer, _ wanted: PixelBuffer, moved: (x: Int, y: Int) = (0, 0)) -> Double {
        var count = 0
        for y in moved.y..<seen.size.height {
            for x in moved.x..<seen.size.width {
                let one = seen[x, y], other = wanted[x - moved.x, y - moved.y]
                let isAlike = (0..<4).allSatisfy { abs(Int(one[$0]) - Int(other[$0])) <= tolerance }
                if !isAlike { count += 1 }
            }
        }
        return Double(count) / Double(seen.size.pixelCount)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        try bytes.withUnsafeBytes { try files.replaceContents(of: path, with: $0) }
    }

    private static func decode(_ bytes: [UInt8]) throws -> PixelBuffer { try ImageDecoder.decode(bytes).pixels }
}
#endif
