import EideticCodecs
import EideticCommandLine
import EideticCore

/// The format and the header of a file.
struct Inspection {
    /// The path as given on the command line.
    let path: String
    /// The format detected by content, which is also known for many damaged files.
    private(set) var format: ImageFormat?
    /// The header of the image.
    private(set) var header: ImageHeader?
    /// The reason why there is no header.
    private(set) var error: EideticError?
    private var byteCount = ByteCount.zero

    /// Inspects a file; blocks.
    init(of path: String) {
        self.path = path
        do throws(EideticError) {
            let bytes = try FileContents.read(path, limit: DecodeLimits.standard.encodedBytes)
            byteCount = ByteCount(bytes.count)
            if case .format(let format) = ImageFormat.detect(in: bytes, isComplete: true) { self.format = format }
            header = try ImageDecoder.header(of: bytes)
        } catch {
            self.error = error
        }
    }

    /// The output with `--json`.
    var json: JSON {
        .object([
            ("path", .string(path)),
            ("format", .optional(format?.rawValue)),
            ("mime", .optional(format?.mimeType)),
            ("width", .optional(header?.size.width)),
            ("height", .optional(header?.size.height)),
            ("orientation", .optional(header?.orientation.rawValue)),
            ("frames", .optional(header?.frameCount)),
            ("loop", .optional(header.map { $0.loopCount ?? 0 })),
            ("durations_ms", header.map { .array($0.durations.map { .number($0.inMilliseconds) }) } ?? .null),
            ("alpha", header.map { .bool($0.hasAlpha) } ?? .null),
            ("error", .optional(error?.description)),
        ])
    }

    /// The output as text: `photo.jpg: JPEG, 4000x3000, upright 3000x4000 (orientation 6), 4.5 MB`.
    var text: String {
        guard let header else { return "\(path): unknown" }
        var parts = [header.format.displayName, "\(header.size)"]
        if header.orientation != .up {
            let uprightText = header.orientation.swapsDimensions ? "upright \(header.uprightSize) " : ""
            parts.append("\(uprightText)(orientation \(header.orientation.rawValue))")
        }
        if header.hasAlpha { parts.append("with alpha") }
        if header.frameCount > 1 { parts.append(animationText(for: header)) }
        return "\(path): \((parts + [byteCount.description]).joined(separator: ", "))"
    }

    private func animationText(for header: ImageHeader) -> String {
        let duration = TimeFormat.text(for: header.durations.reduce(.zero, +))
        let repetitions = header.loopCount.map { $0 == 1 ? "once" : "\($0) times" } ?? "forever"
        return "\(header.frameCount) frames in \(duration), played \(repetitions)"
    }
}
