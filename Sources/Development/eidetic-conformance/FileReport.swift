import EideticCodecs
import EideticCore

/// Eidetic's decoding result of one file, as a line of JSON.
struct FileReport {
    private var fields: [(name: String, json: String)] = []

    init(path: String) {
        do throws(EideticError) {
            try decode(try Self.contents(of: path))
        } catch {
            fields = [("st", Self.quoted("error")), ("code", Self.quoted(error.code.description))]
            fields.append(("msg", Self.quoted(error.message)))
        }
    }

    private static func contents(of path: String) throws(EideticError) -> [UInt8] {
        do throws(SystemError) { return try FileSystem().contents(of: path) } catch {
            throw EideticError(error)
        }
    }

    var json: String { "{" + fields.map { "\(Self.quoted($0.name)):\($0.json)" }.joined(separator: ",") + "}" }

    /// Returns a JSON string literal.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case _ where scalar.value < 32:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private mutating func decode(_ bytes: [UInt8]) throws(EideticError) {
        var plain = DecodeOptions()
        plain.appliesOrientation = false
        plain.convertsToSRGB = false
        plain.premultipliesAlpha = false
        let image = try ImageDecoder.decode(bytes, options: plain)
        guard let header = try ImageDecoder.header(of: bytes) else { return }
        fields = [("st", Self.quoted("ok")), ("w", "\(header.size.width)"), ("h", "\(header.size.height)")]
        addGrid("grid", of: image.pixels)
        fields.append(("orientation", "\(header.orientation.rawValue)"))
        var managed = plain
        managed.convertsToSRGB = true
        addGrid("grid_srgb", of: try ImageDecoder.decode(bytes, options: managed).pixels)
        if header.orientation != .up {
            var upright = plain
            upright.appliesOrientation = true
            addGrid("grid_upright", of: try ImageDecoder.decode(bytes, options: upright).pixels)
        }
        try addAnimation(of: bytes, header: header, options: plain)
    }

    private mutating func addAnimation(
        of bytes: [UInt8],
        header: ImageHeader,
        options: DecodeOptions
    ) throws(EideticError) {
        fields.append(("frames", "\(header.frameCount)"))
        guard header.frameCount > 1 else { return }
        fields.append(("loop", storedLoopCount(header)))
        let milliseconds = header.durations.map { duration in
            let (seconds, attoseconds) = duration.components
            return "\(Double(seconds) * 1_000 + Double(attoseconds) / 1e15)"
        }
        fields.append(("durations_ms", "[" + milliseconds.joined(separator: ",") + "]"))
        var allFrames = options
        allFrames.frames = .all
        let frames = try ImageDecoder.decode(bytes, options: allFrames).frames
        let means = frames.prefix(40).map { Self.quoted(PixelGrid.hex(PixelGrid.mean(of: $0.pixels))) }
        fields.append(("frame_means", "[" + means.joined(separator: ",") + "]"))
    }

    /// Returns the loop count as stored in the file: GIF stores repetitions, other formats plays; 0 is an endless loop.
    private func storedLoopCount(_ header: ImageHeader) -> String {
        guard let count = header.loopCount else { return "0" }
        guard header.format == .gif else { return "\(count)" }
        return count == 1 ? "null" : "\(count - 1)"
    }

    private mutating func addGrid(_ name: String, of pixels: PixelBuffer) {
        fields.append((name, Self.quoted(PixelGrid.hex(PixelGrid.cells(of: pixels)))))
    }
}
