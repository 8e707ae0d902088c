import EideticCore

/// A pattern of file names, such as `{name}_{w}x{h}.{ext}`.
struct OutputTemplate: Sendable {
    /// The values of one image.
    struct Values {
        var name: String
        var size: PixelSize
        /// The number of the image in its list, from 1.
        var number: Int
        var format: ImageFormat
    }

    private static let fields: [String: @Sendable (Values) -> String] = [
        "name": { $0.name }, "w": { "\($0.size.width)" }, "h": { "\($0.size.height)" }, "n": { "\($0.number)" },
        "ext": { $0.format.fileExtension },
    ]

    /// The name of the image, with the extension of its format.
    static let standard = OutputTemplate(trusted: "{name}.{ext}")

    private let text: String

    private init(trusted text: String) { self.text = text }

    /// Creates a pattern; returns `nil` for one with unknown fields, or that leads out of its directory.
    init?(_ text: String) {
        let parts = text.pathParts
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." && !$0.utf8.contains(0) }) else { return nil }
        let names = text.matches(of: /\{([^{}]*)\}/).map { String($0.1) }
        guard names.allSatisfy({ Self.fields[$0] != nil }),
            text.replacing(/\{[^{}]*\}/, with: "").allSatisfy({ $0 != "{" && $0 != "}" })
        else { return nil }
        self.text = text
    }

    /// Returns the path of an image, relative to the directory.
    func path(for values: Values) -> String {
        text.replacing(/\{([^{}]*)\}/) { Self.fields[String($0.1)]?(values) ?? "" }
    }
}
