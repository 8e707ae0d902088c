import Eidetic
import EideticCore

/// How the load of one URL ended.
struct LoadOutcome: Sendable {
    /// What a picture that was loaded is.
    struct LoadedImage: Sendable {
        let source: ImageSource
        let format: ImageFormat
        /// The size asked for, or the original's where none was.
        let size: PixelSize
        /// The encoded picture's length.
        let bytes: ByteCount
    }

    /// The URL as it was given.
    let url: String
    /// The picture, or why there is none.
    let result: Result<LoadedImage, EideticError>
    /// From the moment when its turn came.
    var duration: Duration
    /// How it went, where that is to be told.
    var trace: LoadTrace?

    /// The form for programs.
    var json: JSON {
        let image = try? result.get()
        let error: String? = if case .failure(let error) = result { error.description } else { nil }
        var members: [(name: String, value: JSON)] = [
            ("url", .string(url)),
            ("source", .string(image?.source.rawValue ?? "error")),
            ("format", .optional(image?.format.rawValue)),
            ("width", .optional(image?.size.width)),
            ("height", .optional(image?.size.height)),
            ("bytes", .optional(image?.bytes.bytes)),
            ("ms", .number(duration.inMilliseconds)),
            ("error", .optional(error)),
        ]
        if let record { members.append(("steps", record.json)) }
        return .object(members)
    }

    /// The form for people: `network  JPEG  4000x3000  4.5 MB  123 ms  http://…`.
    var text: String {
        switch result {
        case .success(let image):
            let columns = [
                Columns.left(image.source.rawValue, width: 7), Columns.left(image.format.displayName, width: 4),
                Columns.right("\(image.size)", width: 11), Columns.right(image.bytes.description, width: 9),
                Columns.right(TimeFormat.text(for: duration), width: 7),
            ]
            let steps = record?.lines.map { "\n    \($0)" }.joined() ?? ""
            return (columns + [TerminalText.sanitized(url)]).joined(separator: "  ") + steps
        case .failure(let error):
            let message = TerminalText.sanitized(error.message)
            let name = TerminalText.sanitized(url)
            return message.contains(name) ? "eidetic: \(message)" : "eidetic: \(name): \(message)"
        }
    }
}

extension LoadTrace {
    /// One object a step.
    fileprivate var json: JSON {
        .array(
            steps.map { step in
                .object([
                    ("stage", .string(step.stage.rawValue)), ("ms", .number(step.duration.inMilliseconds)),
                    ("note", .string(step.detail)),
                ])
            }
        )
    }

    /// `decode     12.3 ms  JPEG 4000x3000 to 400x300`.
    fileprivate var lines: [String] {
        steps.map { step in
            let columns = [
                Columns.left(step.stage.rawValue, width: 9),
                Columns.right(TimeFormat.text(for: step.duration), width: 7),
                TerminalText.sanitized(step.detail),
            ]
            return columns.joined(separator: "  ")
        }
    }
}
