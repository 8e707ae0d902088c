/// A file format of images.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    /// JPEG, ISO/IEC 10918.
    case jpeg
    /// PNG and APNG.
    case png
    /// GIF 87a and 89a.
    case gif
    /// WebP.
    case webp
    /// TIFF.
    case tiff
    /// HEIF with HEVC.
    case heic
    /// HEIF with AV1.
    case avif
    /// Windows and OS/2 bitmaps.
    case bmp
    /// Windows icons and cursors.
    case ico
    /// Scalable Vector Graphics.
    case svg
    /// JPEG XL, ISO/IEC 18181.
    case jpegxl

    /// The media type for a `Content-Type` field.
    public var mimeType: String {
        switch self {
        case .svg: "image/svg+xml"
        case .ico: "image/x-icon"
        case .jpegxl: "image/jxl"
        default: "image/\(rawValue)"
        }
    }

    /// The usual file name extension, without the dot.
    public var fileExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .jpegxl: "jxl"
        default: rawValue
        }
    }
}
