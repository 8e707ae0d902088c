import EideticCodecs
import EideticCore

/// `eidetic convert`: decodes a picture and encodes it in another format or size.
enum ConvertCommand {
    static let format = TypedOption<ImageFormat>(
        "format",
        "NAME",
        expecting: "the name of a format such as png",
        help: "the format of OUT, where its name does not say it",
        completion: .words(ImageEncoder.supportedFormats.map(\.rawValue)),
        read: { ImageFormat(name: $0) }
    )

    static let command: Command = .init(
        name: "convert",
        summary: "write a picture in another format or size",
        operands: Operands(
            synopsis: "IN OUT",
            help: "picture files; - is the standard input or output",
            count: 2...2,
            completion: .files
        ),
        options: [CommonOptions.size.option, CommonOptions.quality.option, format.option],
        notes: [
            "OUT's format follows from its name, and is PNG for the standard output. It is written whole or not at "
                + "all. The picture is upright and in sRGB.",
            "Written formats: \(ImageEncoder.supportedFormats.map(\.rawValue).joined(separator: ", ")).",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments) -> ExitStatus {
        let (input, output) = (arguments.operands[0], arguments.operands[1])
        let named = output == "-" ? ImageFormat.png : ImageFormat(fileName: output)
        guard let format = arguments[Self.format] ?? named else {
            let problem = "\"\(output)\" does not end in the name of a format; use --format"
            return Program.usageError([problem], path: [Program.root, command])
        }
        do throws(EideticError) {
            let bytes = try picture(input, format, arguments)
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
            let image = try ImageDecoder.decode(bytes, options: options(format, arguments))
            return try ImageEncoder.encode(image, as: format, quality: arguments[CommonOptions.quality] ?? 0.85)
        } catch {
            throw EideticError(error.code, message: "\(input): \(error.message)")
        }
    }

    private static func decodeOptions(for format: ImageFormat, arguments: Arguments) -> DecodeOptions {
        var options = DecodeOptions()
        options.size = arguments[CommonOptions.size]
        options.premultipliesAlpha = false
        options.frames = format == .gif ? .all : .first
        return options
    }
}
