import EideticCodecs
import EideticCore

/// A writer of loaded images to a directory.
struct ImageWriter: Sendable {
    private let directory: String
    private let isResized: Bool

    /// Creates a writer, and the directory if it does not exist; blocks.
    ///
    /// Resized images are encoded again; otherwise the received bytes are written.
    init(directory: String, isResized: Bool) throws(EideticError) {
        self.directory = directory
        self.isResized = isResized
        do throws(SystemError) {
            try FileSystem().makeDirectories(directory, mode: 0o755)
        } catch {
            let reason = FileContents.error(for: error)
            throw EideticError(reason.code, message: "\(directory): \(reason.message)")
        }
    }

    /// Writes an image to a file with this name and the extension of its format; blocks.
    ///
    /// Whatever has that name already is replaced, and never opened.
    func write(_ image: Image, encodedBytes: [UInt8]?, name: String) throws(EideticError) {
        if !isResized, let encodedBytes {
            return try writeFile(encodedBytes, named: "\(name).\(image.format.fileExtension)")
        }
        let format = ImageEncoder.supportedFormats.contains(image.format) ? image.format : .png
        try writeFile(try ImageEncoder.encode(image, as: format), named: "\(name).\(format.fileExtension)")
    }

    private func writeFile(_ bytes: [UInt8], named name: String) throws(EideticError) {
        do throws(EideticError) {
            try FileContents.replace("\(directory)/\(name)", with: bytes)
        } catch {
            throw EideticError(error.code, message: "\(directory)/\(name): \(error.message)")
        }
    }
}
