import Eidetic
import EideticCodecs
import EideticCLI
import EideticCore

/// A writer of loaded images to a directory.
struct ImageWriter: Sendable {
    private let directory: String
    private let encodesImages: Bool
    private let format: ImageFormat?
    private let quality: Double?
    private let writesFirstFrame: Bool
    /// The record of the written files.
    let record: OutputRecord

    /// Creates a writer, and the directory if it does not exist; blocks.
    ///
    /// Changed images are encoded again; otherwise the received bytes are written.
    init(directory: String, arguments: LoadArguments) throws(EideticError) {
        self.directory = directory
        (encodesImages, format, quality) = (arguments.encodesImages, arguments.format, arguments.quality)
        writesFirstFrame = arguments.options.contains(.firstFrameOnly)
        try Self.makeDirectory(directory)
        record = try OutputRecord(directory: directory, changes: arguments.changes, continues: arguments.continues)
    }

    /// The options that a request needs for the file: the encoded bytes, or all frames.
    var requestOptions: ImageOptions {
        guard encodesImages else { return [.waitStoreCache, .queryMemoryData] }
        return writesFirstFrame ? .waitStoreCache : [.waitStoreCache, .preloadAllFrames]
    }

    private static func makeDirectory(_ directory: String) throws(EideticError) {
        do throws(SystemError) {
            try FileSystem().makeDirectories(directory, mode: 0o755)
        } catch {
            let reason = FileContents.error(for: error)
            throw EideticError(reason.code, message: "\(directory): \(reason.message)")
        }
    }

    /// Writes an image to a file with the name of its item and the extension of its format; blocks.
    ///
    /// Whatever has that name already is replaced, and never opened.
    ///
    /// - Returns: The path of the file.
    /// - Throws: `unsupportedFormat` for an animation that must be encoded in a format without animations.
    func write(_ image: Image, encodedBytes: [UInt8]?, item: LoadArguments.Item) throws(EideticError) -> String {
        if !encodesImages, let encodedBytes { return try write(encodedBytes, format: image.format, item: item) }
        let format = format ?? image.ownEncodableFormat
        guard !image.isAnimated || ImageEncoder.animatedFormats.contains(format) else {
            throw EideticError(
                .unsupportedFormat,
                message:
                    "\(TerminalText.abbreviated(item.url)) was not written: its \(image.frames.count) frames cannot be "
                    + "encoded as \(format.displayName); --option firstFrameOnly writes the first one"
            )
        }
        return try write(
            try ImageEncoder.encode(image, as: format, quality: quality ?? 0.85),
            format: format,
            item: item
        )
    }

    private func write(
        _ bytes: [UInt8],
        format: ImageFormat,
        item: LoadArguments.Item
    ) throws(EideticError) -> String {
        let name = "\(item.name).\(format.fileExtension)"
        let path = "\(directory)/\(name)"
        do throws(EideticError) {
            try FileContents.replace(path, with: bytes)
        } catch {
            throw EideticError(error.code, message: "\(path): \(error.message)")
        }
        record.add(name: name, url: item.url)
        return path
    }
}
