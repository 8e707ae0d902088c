import Eidetic
import EideticCodecs
import EideticCommandLine
import EideticCore

/// The command `eidetic convert`, which encodes an image in another format or size.
enum ConvertCommand {
    static let format = TypedOption<ImageFormat>(
        "format",
        placeholder: "NAME",
        expecting: "the name of a format such as png",
        help: "the format to write (default: by the file extension, or the image's own)",
        completion: .words(ImageEncoder.supportedFormats.map(\.rawValue)),
        parse: { ImageFormat(name: $0) }
    )

    static let firstFrame = Option(name: "first-frame", help: "write only the first frame of an animation")

    static let command: Command = .init(
        name: "convert",
        summary: "convert an image to another format or size",
        operands: Operands(
            synopsis: "IN OUT",
            help: "image files; - is standard input or standard output",
            count: 2...2,
            completion: .files
        ),
        options: RenderingOptions.all + [CommonOptions.quality.definition, format.definition, firstFrame],
        notes: [
            "The format of OUT follows from its file extension, and is PNG for standard output. OUT is replaced only after "
                + "the image is encoded. The image is upright and in sRGB.",
            "An animation is written as an animation, which only GIF can be; with other formats it fails, unless "
                + "--first-frame is given.",
            "Formats: \(ImageEncoder.supportedFormats.map(\.rawValue).joined(separator: ", ")).",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments) -> ExitStatus {
        if let problem = RenderingOptions.problem(in: arguments) {
            return CommandRunner.usageError([problem], path: [Program.root, command])
        }
        let (input, output) = (arguments.operands[0], arguments.operands[1])
        let outputFormat = output == "-" ? ImageFormat.png : ImageFormat(fileName: output)
        guard let format = arguments[Self.format] ?? outputFormat else {
            let problem = "\"\(output)\" has no known file extension; use --format"
            return CommandRunner.usageError([problem], path: [Program.root, command])
        }
        do throws(EideticError) {
            let bytes = try convert(input, to: format, arguments: arguments)
            do throws(EideticError) {
                try FileContents.write(bytes, to: output)
            } catch {
                throw EideticError(error.code, message: "\(output): \(error.message)")
            }
            return .success
        } catch {
            Diagnostics.report(error.message)
            return .failure
        }
    }

    private static func convert(
        _ input: String,
        to format: ImageFormat,
        arguments: Arguments
    ) throws(EideticError) -> [UInt8] {
        do throws(EideticError) {
            let bytes = try FileContents.read(input, limit: DecodeLimits.standard.encodedBytes)
            let frameCount = try ImageDecoder.header(of: bytes)?.frameCount ?? 1
            guard frameCount == 1 || format == .gif || arguments.contains(firstFrame) else {
                throw lossOfFrames(as: format)
            }
            let image = try changedImage(from: bytes, arguments: arguments)
            return try ImageEncoder.encode(image, as: format, quality: arguments[CommonOptions.quality] ?? 0.85)
        } catch {
            throw EideticError(error.code, message: "\(input): \(error.message)")
        }
    }

    private static func lossOfFrames(as format: ImageFormat) -> EideticError {
        EideticError(
            .unsupportedFormat,
            message: "an animation cannot be written as \(format.displayName); use GIF, or --first-frame"
        )
    }

    private static func changedImage(from bytes: [UInt8], arguments: Arguments) throws(EideticError) -> Image {
        let rendering = RenderingOptions.rendering(from: arguments)
        let image = try ImageDecoder.decode(bytes, options: decodeOptions(for: arguments, rendering: rendering))
        return try rendering.transform?.apply(to: image) ?? image
    }

    private static func decodeOptions(for arguments: Arguments, rendering: ImageRequest.Rendering) -> DecodeOptions {
        var options = DecodeOptions()
        options.target = rendering.target ?? rendering.transform?.decodeTarget
        options.premultipliesAlpha = rendering.transform != nil
        options.frames = arguments.contains(firstFrame) ? .first : .all
        return options
    }
}
