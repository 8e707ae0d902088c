import EideticCore

extension ImageFormat {
    /// The name as people write it.
    var displayName: String {
        switch self {
        case .webp: "WebP"
        case .jpegxl: "JPEG XL"
        default: rawValue.uppercased()
        }
    }

    /// The format that a file's name asks for by its ending; `nil` where it has none that is known.
    init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: "."), dot > fileName.startIndex else { return nil }
        self.init(name: String(fileName[fileName.index(after: dot)...]))
    }

    /// The format with this name or usual file ending: `jpeg`, `jpg`, `tif`.
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
