import EideticCodecs
import EideticCore

/// Writes loaded pictures into a directory.
struct PictureWriter: Sendable {
    private let directory: String
    private let isResized: Bool

    /// Makes the directory where it is not there; blocks.
    ///
    /// Pictures that are resized are encoded again; else the original bytes are written.
    init(directory: String, isResized: Bool) throws(EideticError) {
        self.directory = directory
        self.isResized = isResized
        do throws(SystemError) {
            try FileSystem().makeDirectories(directory, mode: 0o755)
        } catch {
            let reason = FileBytes.describe(error)
            throw EideticError(reason.code, "\(directory): \(reason.message)")
        }
    }

    /// Writes a picture under a name, to which the ending of its format is added; blocks.
    func write(_ image: Image, original: [UInt8]?, name: String) throws(EideticError) {
        if !isResized, let original { return try write(original, "\(name).\(image.format.fileExtension)") }
        let format = ImageEncoder.supportedFormats.contains(image.format) ? image.format : .png
        try write(try ImageEncoder.encode(image, as: format), "\(name).\(format.fileExtension)")
    }

    private func write(_ bytes: [UInt8], _ name: String) throws(EideticError) {
        do throws(EideticError) {
            try FileBytes.write(bytes, to: "\(directory)/\(name)")
        } catch {
            throw EideticError(error.code, "\(directory)/\(name): \(error.message)")
        }
    }
}
