import Eidetic
import EideticCodecs
import EideticCLI
import EideticCore

/// The format and the header of a file.
struct Inspection {
    /// The path as given on the command line.
    let path: String
    /// The format detected by content, which is also known for many damaged files.
    private(set) var format: ImageFormat?
    private(set) var header: ImageHeader?
    /// The reason why there is no header.
    private(set) var error: EideticError?
    /// The samples of the file, and its metadata.
    private(set) var colours: ColourFacts?, metadata: MetadataFacts?
    /// A Boolean value indicating whether the file has an alpha that is not shown.
    private(set) var ignoresAlpha = false
    /// The descriptions of the image; `nil` if they are not wanted, or it cannot be decoded.
    private(set) var placeholder: ImagePlaceholder?
    private let makesPlaceholder: Bool
    private var byteCount = ByteCount.zero

    /// Inspects a file; blocks.
    ///
    /// A file that ends too early is an error, as far as its header and its length show that; with `decodesAll` also
    /// any damage of its pixels.
    init(of path: String, makesPlaceholder: Bool, decodesAll: Bool, decodePolicy: DecodePolicy) {
        self.path = path
        self.makesPlaceholder = makesPlaceholder
        do throws(EideticError) {
            let bytes = try FileContents.readImage(path)
            byteCount = ByteCount(bytes.count)
            if case .format(let format) = ImageFormat.detect(in: bytes, isComplete: true) { self.format = format }
            let facts = format.map { FileFacts(of: bytes, format: $0) }
            colours = format.map { ColourFacts(of: bytes, format: $0) }
            header = try Self.header(
                of: bytes,
                format: format,
                truncation: facts?.truncation,
                decodePolicy: decodePolicy
            )
            ignoresAlpha = header?.ignoresAlpha(of: bytes) == true
            metadata = (try? decodePolicy.metadata(of: bytes)).map(MetadataFacts.init)
            if decodesAll {
                var options = DecodeOptions()
                options.frames = .all
                _ = try decodePolicy.decode(bytes, options: options)
            }
            if let reason = facts?.truncation {
                throw EideticError(.truncated, message: "\(header?.format.displayName ?? ""): \(reason)")
            }
            guard makesPlaceholder else { return }
            // Hashes need few pixels, which many decoders make faster.
            var options = DecodeOptions()
            options.size = PixelSize(width: 256, height: 256)
            placeholder = try ImagePlaceholder(of: decodePolicy.decode(bytes, options: options).image.pixels)
        } catch {
            self.error = error
        }
    }

    /// Returns the header; where it reaches to the end of the file, what is missing is no damage.
    private static func header(
        of bytes: [UInt8],
        format: ImageFormat?,
        truncation: String?,
        decodePolicy: DecodePolicy
    ) throws(EideticError) -> ImageHeader? {
        do throws(EideticError) {
            return try decodePolicy.header(of: bytes)
        } catch {
            guard let truncation, error.code == .corrupt, [.avif, .heic, .jpegxl].contains(format) else { throw error }
            throw EideticError(.truncated, message: "\(error.message): \(truncation)")
        }
    }

    /// The output with `--json`.
    var json: JSON {
        let members: [(name: String, value: JSON)] = [
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
            ("alpha_ignored", header.map { _ in .bool(ignoresAlpha) } ?? .null),
            ("bits", .optional(colours?.bits)),
            ("color_space", .optional(color)),
            ("chroma", .optional(colours?.chroma)),
            ("primaries", .optional(colours?.primaries)),
            ("dynamic_range", .optional(colours?.dynamicRange)),
            ("gain_map", colours.map { .bool($0.hasGainMap) } ?? .null),
            ("profile", .optional(metadata?.profile)),
            ("exif", metadata?.exif.map { .object($0.map { ($0.name, .string($0.value)) }) } ?? .null),
            ("xmp_bytes", .optional(metadata?.xmpByteCount)),
            ("error", .optional(error?.description)),
        ]
        return .object(members + hashes)
    }

    private var color: String? { colours?.color ?? metadata?.profileColors }

    /// The samples and the metadata as text.
    private var details: [String] {
        let bits = colours?.bits.map { "\($0) bits" }
        let samples = [bits, color, colours?.chroma].compactMap(\.self).joined(separator: " ")
        let range = [colours?.primaries, colours?.dynamicRange.flatMap { $0 == "standard" ? nil : $0 }]
        let meaning = range.compactMap(\.self).joined(separator: " ")
        let exif = metadata?.exif.map { exif in
            let values = exif.filter { ["make", "model", "taken"].contains($0.name) }.map(\.value)
            return "EXIF" + (values.isEmpty ? "" : " (\(values.joined(separator: " ")))")
        }
        let profile = metadata?.profile.map { "profile \"\($0)\"" }
        let xmp = metadata?.xmpByteCount.map { _ in "XMP" }
        let words = [samples, meaning].filter { !$0.isEmpty }
        return words + [colours?.hasGainMap == true ? "gain map" : nil, profile, exif, xmp].compactMap(\.self)
    }

    /// The descriptions as members of the JSON object; none if they are not wanted.
    private var hashes: [(name: String, value: JSON)] {
        guard makesPlaceholder else { return [] }
        return [
            ("blurhash", .optional(placeholder?.blurHash)), ("thumbhash", .optional(placeholder?.thumbHash)),
            ("color", .optional(placeholder?.dominantColor.description)),
        ]
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
        if ignoresAlpha { parts.append("alpha ignored") }
        if header.frameCount > 1 { parts.append(animationText(for: header)) }
        parts += details
        if let placeholder {
            let hashes = "blurhash \(placeholder.blurHash), thumbhash \(placeholder.thumbHash)"
            return "\(path): \(parts.joined(separator: ", ")), \(byteCount), \(hashes), \(placeholder.dominantColor)"
        }
        return "\(path): \((parts + [byteCount.description]).joined(separator: ", "))"
    }

    private func animationText(for header: ImageHeader) -> String {
        let duration = TimeFormat.text(for: header.durations.reduce(.zero, +))
        let repetitions = header.loopCount.map { $0 == 1 ? "once" : "\($0) times" } ?? "forever"
        return "\(header.frameCount) frames in \(duration), played \(repetitions)"
    }
}
