import EideticCodecs
import EideticCore

/// Writes loaded pictures into a directory.
struct ImageWriter: Sendable {
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
            let reason = FileContents.error(for: error)
            throw EideticError(reason.code, message: "\(directory): \(reason.message)")
        }
    }

    /// Writes a picture under a name, to which the ending of its format is added; blocks.
    func write(_ image: Image, encodedBytes: [UInt8]?, name: String) throws(EideticError) {
        if !isResized, let encodedBytes {
            return try writeFile(encodedBytes, named: "\(name).\(image.format.fileExtension)")
        }
        let format = ImageEncoder.supportedFormats.contains(image.format) ? image.format : .png
        try write(try ImageEncoder.encode(image, as: format), "\(name).\(format.fileExtension)")
    }

    private func writeFile(_ bytes: [UInt8], named name: String) throws(EideticError) {
        do throws(EideticError) {
            try FileContents.write(bytes, to: "\(directory)/\(name)")
        } catch {
            throw EideticError(error.code, message: "\(directory)/\(name): \(error.message)")
        }
    }
}
