import Eidetic
import EideticCodecs
import EideticCLI
import EideticCore
import EideticHTTP

/// A writer of loaded images to a directory, a file or standard output.
final class ImageWriter: Sendable {
    private enum Target: Sendable {
        case file(String)
        case directory(String, OutputRecord)
    }

    private let target: Target
    private let arguments: LoadArguments
    /// The name of each item's file, without a file extension, because its format is not known yet.
    private let names: [String: String]
    /// The names that servers give, which are known when their images are there.
    private let remoteNames: Guarded<UniqueFileNames>

    /// Creates a writer, and the directory if it does not exist; blocks.
    ///
    /// Changed images are encoded again; otherwise the received bytes are written.
    init(output: String, arguments: LoadArguments) throws(EideticError) {
        self.arguments = arguments
        var unique = UniqueFileNames(), names: [String: String] = [:]
        if arguments.writesOneFile {
            target = .file(output)
        } else {
            try FileContents.makeDirectory(output)
            let record = try OutputRecord(directory: output, changes: arguments.changes)
            target = .directory(output, record)
            if arguments.usesRemoteNames { record.reserveNames(in: &unique) }
            // A URL keeps its name, whatever the order of the list.
            for item in arguments.items {
                if let name = record.name(for: item.url) { names[item.url] = unique.reserve(name) }
            }
            for item in arguments.items where names[item.url] == nil && !arguments.usesRemoteNames {
                names[item.url] = unique.next(for: item.url)
            }
        }
        self.names = names
        remoteNames = Guarded(unique)
    }

    /// The options that a request needs for the file: all frames, if they are encoded.
    var requestOptions: ImageOptions {
        let needsFrames = arguments.encodesImages || fileFormat != nil
        return needsFrames && !arguments.options.contains(.firstFrameOnly) ? .preloadAllFrames : []
    }

    var needsBytes: Bool { !arguments.encodesImages }

    /// The format that the name of a single file stands for.
    private var fileFormat: ImageFormat? {
        guard case .file(let path) = target else { return nil }
        return ImageFormat(fileName: path)
    }

    /// Returns the file that need not be loaded again: one that an earlier run wrote completely, with `--continue`.
    func keptFile(for url: String) -> String? {
        guard arguments.continues, case .directory(_, let record) = target else { return nil }
        return record.existingFile(for: url)
    }

    /// Writes an image to a file with the name of its item and the extension of its format; blocks.
    ///
    /// A file of the same URL is replaced, and never opened; any other one only with `--overwrite`.
    ///
    /// - Throws: `unsupportedFormat` for an animation that must be encoded in a format without animations.
    func write(_ response: ImageResponse, url: String) throws(EideticError) -> String {
        let wanted = arguments.format ?? fileFormat
        let own = response.image.format
        if !arguments.encodesImages, let bytes = response.encodedBytes, wanted == nil || wanted == own {
            return try write(bytes, format: own, of: response, url: url)
        }
        let image = try response.image.decodedSynchronously()
        let format = wanted ?? image.ownEncodableFormat
        guard !image.isAnimated || ImageEncoder.animatedFormats.contains(format) else {
            throw EideticError(
                .unsupportedFormat,
                message: "\(TerminalText.abbreviated(url)) was not written: its \(image.frames.count) frames cannot be "
                    + "encoded as \(format.displayName); --option firstFrameOnly writes the first one"
            )
        }
        let bytes = try ConvertCommand.named(TerminalText.abbreviated(url)) { () throws(EideticError) in
            try ImageEncoder.encode(image, as: format, quality: arguments.quality ?? 0.85)
        }
        return try write(bytes, format: format, of: response, url: url)
    }

    private func write(
        _ bytes: [UInt8],
        format: ImageFormat,
        of response: ImageResponse,
        url: String
    ) throws(EideticError) -> String {
        let modified = arguments.keepsRemoteTime ? Self.modificationTime(of: response) : nil
        switch target {
        case .file(let path):
            try replacing(path, with: bytes) { () throws(EideticError) in
                try FileContents.write(bytes, to: path, overwrites: arguments.overwrites, modificationTime: modified)
            }
            return path
        case .directory(let directory, let record):
            let name = "\(stem(for: response, url: url)).\(format.fileExtension)", path = "\(directory)/\(name)"
            let owner = record.url(of: name)
            let overwrites = arguments.overwrites || owner == url.withoutPasswordsOfURL
            try replacing(path, with: bytes, owner: owner) { () throws(EideticError) in
                try FileContents.replace(path, with: bytes, overwrites: overwrites, modificationTime: modified)
            }
            record.add(name: name, byteCount: bytes.count, url: url)
            return path
        }
    }

    private func stem(for response: ImageResponse, url: String) -> String {
        if let name = names[url] { return name }
        let field = response.fields.values(of: "content-disposition").first
        return remoteNames.withLock { names in
            guard let name = field.flatMap({ ContentDisposition($0).fileName }) else { return names.next(for: url) }
            return names.next(forRemoteName: name)
        }
    }

    /// Calls a function that writes a file; one that has these bytes already stays as it is.
    private func replacing(
        _ path: String,
        with bytes: [UInt8],
        owner: String? = nil,
        write: () throws(EideticError) -> Void
    ) throws(EideticError) {
        try ConvertCommand.named(path) { () throws(EideticError) in
            do throws(EideticError) {
                try write()
            } catch  where error.isExistingFile {
                if FileContents.hasContents(path, equalTo: bytes) { return }
                guard let owner else { throw error }
                throw EideticError(
                    error.code,
                    message: "\(error.message), which came from \(TerminalText.abbreviated(owner))",
                    systemErrorNumber: error.systemErrorNumber
                )
            }
        }
    }

    /// The time at which the server's file was last changed; `nil` if it does not say that.
    private static func modificationTime(of response: ImageResponse) -> Timestamp? {
        response.fields.values(of: "last-modified").first.flatMap { HTTPDate.parse($0) }
    }
}
