import Eidetic
import EideticCLI
import EideticCore

/// The outcome of loading one URL.
struct LoadOutcome: Sendable {
    /// The properties of an image that was loaded.
    struct LoadedImage: Sendable {
        let source: ImageSource
        let format: ImageFormat
        /// The size after `--size`, or the image's own size without that option.
        let size: PixelSize
        /// The number of encoded bytes.
        let bytes: ByteCount
        /// A Boolean value indicating whether a part of the image is missing, because its bytes are damaged.
        var isPartial = false
        /// The file that was written, with `--out`.
        var file: String?
        /// The reason for which no file was written.
        var fileError: EideticError?
    }

    /// The URL as given in the list.
    let url: String
    let result: Result<LoadedImage, EideticError>
    /// The elapsed time since the start of this load.
    var duration: Duration
    /// The trace of the load, with `--explain`.
    var trace: LoadTrace?

    /// The output with `--json`.
    var json: JSON {
        let image = try? result.get()
        let error: EideticError? = if case .failure(let error) = result { error } else { image?.fileError }
        var members: [(name: String, value: JSON)] = [
            ("url", .url(url)),
            ("source", .string(image?.source.name ?? "error")),
            ("format", .optional(image?.format.rawValue)),
            ("width", .optional(image?.size.width)),
            ("height", .optional(image?.size.height)),
            ("bytes", .optional(image?.bytes.bytes)),
            ("partial", image.map { .bool($0.isPartial) } ?? .null),
            ("ms", .number(duration.inMilliseconds)),
            ("error", error.map { .redacted($0.description.replacing(url, with: url.withoutPasswordsOfURL)) } ?? .null),
            ("code", .optional(error?.code.description)),
            ("status", .optional(error?.httpStatus)),
            ("file", .optional(image?.file)),
        ]
        if let trace { members.append(("steps", trace.json)) }
        return .object(members)
    }

    /// The output as text: `network  JPEG  4000x3000  4.5 MB  123 ms  http://…`.
    var text: String {
        switch result {
        case .success(let image):
            let columns = [
                Columns.left(image.source.name, width: 7), Columns.left(image.format.displayName, width: 4),
                Columns.right("\(image.size)", width: 11), Columns.right(image.bytes.description, width: 9),
                Columns.right(TimeFormat.text(for: duration), width: 7),
            ]
            let steps = trace?.lines.map { "\n    \($0)" }.joined() ?? ""
            let name = TerminalText.abbreviated(url) + (image.isPartial ? "  (a part is missing)" : "")
            return (columns + [name]).joined(separator: "  ") + steps
        case .failure(let error):
            let name = TerminalText.abbreviated(url)
            let shown = url.withoutPasswordsOfURL
            let message = TerminalText.sanitized(error.message.replacing(url, with: shown))
                .replacing(shown.printable, with: name)
            return message.contains(name) ? "eidetic: \(message)" : "eidetic: \(name): \(message)"
        }
    }
}

extension ImageSource {
    /// The name of the case, which Swift's own text would look up in the program's metadata each time.
    var name: String {
        switch self {
        case .memory: "memory"
        case .disk: "disk"
        case .provider: "provider"
        case .shared: "shared"
        case .network: "network"
        }
    }
}

extension EideticError {
    /// The status of the response or the code of the error, for a caption.
    var shortReason: String { httpStatus.map { "\($0)" } ?? code.description }
}

extension LoadTrace {
    /// An array with one object per step.
    fileprivate var json: JSON {
        .array(
            steps.map { step in
                .object([
                    ("stage", .string(step.stage.rawValue)), ("ms", .number(step.duration.inMilliseconds)),
                    ("waiting_ms", .number(step.waiting.inMilliseconds)), ("note", .redacted(step.detail)),
                ])
            }
        )
    }

    /// One line per step, such as `decode     12.3 ms  JPEG 4000x3000 to 400x300`.
    fileprivate var lines: [String] {
        steps.map { step in
            let columns = [
                Columns.left(step.stage.rawValue, width: 9),
                Columns.right(TimeFormat.text(for: step.duration), width: 7),
                TerminalText.sanitized(step.detail) + step.waitingText,
            ]
            return columns.joined(separator: "  ")
        }
    }
}

extension LoadTrace.Step {
    /// The waiting time behind the detail, if it is not negligible.
    fileprivate var waitingText: String {
        waiting < .microseconds(50) ? "" : ", \(TimeFormat.text(for: waiting)) of it waiting"
    }
}
