import EideticCodecs
import EideticCore

/// What a file says about itself.
struct Inspection {
    /// The file's name as it was given.
    let path: String
    /// The format by content; known also for many a file that is damaged.
    private(set) var format: ImageFormat?
    /// What the picture's header says.
    private(set) var header: ImageHeader?
    /// Why there is no header.
    private(set) var error: EideticError?
    private var byteCount = ByteCount.zero

    /// Reads a file; blocks.
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

    /// The form for programs.
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

    /// The form for people: `photo.jpg: JPEG, 4000x3000, upright 3000x4000 (orientation 6), 4.5 MB`.
    var text: String {
        guard let header else { return "\(path): unknown" }
        var parts = [header.format.displayName, "\(header.size)"]
        if header.orientation != .up {
            let turned = header.orientation.swapsDimensions ? "upright \(header.uprightSize) " : ""
            parts.append("\(turned)(orientation \(header.orientation.rawValue))")
        }
        if header.hasAlpha { parts.append("with alpha") }
        if header.frameCount > 1 { parts.append(animation(header)) }
        return "\(path): \((parts + [byteCount.description]).joined(separator: ", "))"
    }

    private func animationText(for header: ImageHeader) -> String {
        let length = TimeFormat.text(for: header.durations.reduce(.zero, +))
        let times = header.loopCount.map { $0 == 1 ? "once" : "\($0) times" } ?? "for ever"
        return "\(header.frameCount) frames in \(length), played \(times)"
    }
}
