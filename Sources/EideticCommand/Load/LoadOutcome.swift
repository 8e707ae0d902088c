import Eidetic
import EideticCore

/// How the load of one URL ended.
struct LoadOutcome: Sendable {
    /// What a picture that was loaded is.
    struct Picture: Sendable {
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
    let result: Result<Picture, EideticError>
    /// From the moment when its turn came.
    var duration: Duration
    /// How it went, where that is to be told.
    var record: LoadRecord?

    /// The form for programs.
    var json: JSON {
        let picture = try? result.get()
        let error: String? = if case .failure(let error) = result { error.description } else { nil }
        var members: [(name: String, value: JSON)] = [
            ("url", .string(url)),
            ("source", .string(picture?.source.rawValue ?? "error")),
            ("format", .optional(picture?.format.rawValue)),
            ("width", .optional(picture?.size.width)),
            ("height", .optional(picture?.size.height)),
            ("bytes", .optional(picture?.bytes.bytes)),
            ("ms", .number(duration.inMilliseconds)),
            ("error", .optional(error)),
        ]
        if let record { members.append(("steps", record.json)) }
        return .object(members)
    }

    /// The form for people: `network  JPEG  4000x3000  4.5 MB  123 ms  http://…`.
    var text: String {
        switch result {
        case .success(let picture):
            let columns = [
                Columns.left(picture.source.rawValue, 7), Columns.left(picture.format.displayName, 4),
                Columns.right("\(picture.size)", 11), Columns.right(picture.bytes.description, 9),
                Columns.right(Moments.text(duration), 7),
            ]
            let steps = record?.lines.map { "\n    \($0)" }.joined() ?? ""
            return (columns + [Printable.text(url)]).joined(separator: "  ") + steps
        case .failure(let error):
            let message = Printable.text(error.message)
            let name = Printable.text(url)
            return message.contains(name) ? "eidetic: \(message)" : "eidetic: \(name): \(message)"
        }
    }
}

extension LoadRecord {
    /// One object a step.
    fileprivate var json: JSON {
        .array(
            steps.map { step in
                .object([
                    ("stage", .string(step.stage.rawValue)), ("ms", .number(step.duration.inMilliseconds)),
                    ("note", .string(step.note)),
                ])
            }
        )
    }

    /// `decode     12.3 ms  JPEG 4000x3000 to 400x300`.
    fileprivate var lines: [String] {
        steps.map { step in
            let columns = [
                Columns.left(step.stage.rawValue, 9), Columns.right(Moments.text(step.duration), 7),
                Printable.text(step.note),
            ]
            return columns.joined(separator: "  ")
        }
    }
}
