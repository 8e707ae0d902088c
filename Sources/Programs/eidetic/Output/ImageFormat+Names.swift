import EideticCore

extension ImageFormat {
    /// The usual spelling of the name.
    var displayName: String {
        switch self {
        case .webp: "WebP"
        case .jpegxl: "JPEG XL"
        default: rawValue.uppercased()
        }
    }

    /// Creates a format from a file's extension; returns `nil` if it is unknown.
    init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: "."), dot > fileName.startIndex else { return nil }
        self.init(name: String(fileName[fileName.index(after: dot)...]))
    }

    /// Creates a format from its name or file extension, such as `jpeg`, `jpg` or `tif`.
    init?(name: String) {
        let name = name.lowercased()
        let aliases: [String: ImageFormat] = [
            "jpe": .jpeg, "jfif": .jpeg, "apng": .png, "tif": .tiff, "heif": .heic, "dib": .bmp,
        ]
        let usual = ImageFormat.allCases.first { $0.rawValue == name || $0.fileExtension == name }
        guard let format = usual ?? aliases[name] else { return nil }
        self = format
    }
}
