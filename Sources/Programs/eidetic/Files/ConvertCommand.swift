import EideticCodecs
import EideticCLI
import EideticCore

/// The command `eidetic convert`, which encodes images in another format or size.
enum ConvertCommand {
    static let command: Command = .init(
        name: "convert",
        summary: "convert images to another format or size",
        operands: Operands(
            synopsis: "IN OUT | --animate MS IN… OUT | --out DIR IN…",
            help: "image files; - is standard input or standard output",
            count: 1...Int.max,
            completion: .files
        ),
        options: RenderingOptions.all + EncodingOptions.all + FrameOptions.all + [
            outputDirectory.definition, SandboxOption.definition, SandboxOption.omission,
        ],
        notes: [
            "The format of OUT follows from its file extension, and is PNG for standard output. OUT is replaced only after "
                + "the image is encoded. The image is upright and in sRGB, or with --metadata keep in its own colours.",
            "An animation is written as an animation (\(animated)); with other formats it fails, unless --frame is given.",
            "With --out, the files are converted on all processors, and written under their own names with the extension "
                + "of their format; one that fails does not stop the others.",
            "Formats: \(ImageEncoder.supportedFormats.map(\.rawValue).joined(separator: ", ")).",
        ],
        run: run
    )

    static let outputDirectory = TypedOption<String>(
        "out",
        placeholder: "DIR",
        help: "convert all images IN, and write them to this directory",
        completion: .directories
    )

    private static var animated: String { ImageEncoder.animatedFormats.map(\.displayName).joined(separator: ", ") }

    private static func run(_ arguments: Arguments) -> ExitStatus {
        if let problem = problem(in: arguments) {
            return CommandRunner.usageError([problem], path: [Program.root, command])
        }
        if let directory = arguments[outputDirectory] {
            return BatchConversion(arguments, directory: directory).run(arguments.operands)
        }
        do throws(EideticError) {
            try convert(arguments)
            return .success
        } catch {
            Diagnostics.report(error.message)
            return .failure
        }
    }

    /// Returns the reason why options cannot be combined; `nil` if they can.
    private static func problem(in arguments: Arguments) -> String? {
        if let problem = RenderingOptions.problem(in: arguments) ?? FrameOptions.problem(in: arguments) {
            return problem
        }
        let count = arguments.operands.count
        if arguments[outputDirectory] != nil {
            return arguments.contains(FrameOptions.animate.definition) ? "--animate and --out cannot be combined" : nil
        }
        if arguments[FrameOptions.animate] != nil { return count < 2 ? "--animate requires IN and OUT" : nil }
        guard count == 2 else {
            return count < 2 ? "there is no OUT" : "there are \(count - 1) images and one OUT; use --out or --animate"
        }
        if arguments.contains(FrameOptions.frames), arguments.operands[1] == "-" {
            return "--frames requires a file OUT"
        }
        let isKnown = arguments[EncodingOptions.format] != nil || outputFormat(of: arguments) != nil
        return isKnown ? nil : "\"\(arguments.operands[1])\" has no known file extension; use --format"
    }

    private static func outputFormat(of arguments: Arguments) -> ImageFormat? {
        let output = arguments.operands.last ?? "-"
        return arguments[EncodingOptions.format] ?? (output == "-" ? .png : ImageFormat(fileName: output))
    }

    private static func convert(_ arguments: Arguments) throws(EideticError) {
        let conversion = ImageConversion(arguments), output = arguments.operands.last ?? "-"
        guard let format = outputFormat(of: arguments) else {
            throw EideticError(.invalidArgument, message: "\"\(output)\" has no known file extension; use --format")
        }
        var sources: [ImageConversion.Source] = []
        for input in arguments.operands.dropLast() { sources.append(try source(at: input, for: conversion)) }
        if let duration = arguments[FrameOptions.animate] {
            sources = [try ImageConversion.animation(of: sources, duration: duration)]
        } else if arguments.contains(FrameOptions.frames) {
            sources = ImageConversion.frames(of: sources[0])
        }
        for (index, source) in sources.enumerated() {
            let bytes = try named(arguments.operands[0]) { () throws(EideticError) in
                try conversion.encode(source, as: format)
            }
            let path = arguments.contains(FrameOptions.frames) ? numbered(output, number: index + 1) : output
            try named(path) { () throws(EideticError) in try FileContents.write(bytes, to: path) }
        }
    }

    /// Reads, decodes and changes the image in a file.
    static func source(
        at path: String,
        for conversion: ImageConversion
    ) throws(EideticError) -> ImageConversion.Source {
        try named(path) { () throws(EideticError) in
            try conversion.source(from: FileContents.read(path, limit: DecodeLimits.standard.encodedBytes))
        }
    }

    /// Calls a function, whose errors then begin with a path.
    static func named<Result>(
        _ path: String,
        body: () throws(EideticError) -> Result
    ) throws(EideticError) -> Result {
        do throws(EideticError) {
            return try body()
        } catch {
            throw EideticError(error.code, message: "\(path): \(error.message)")
        }
    }

    /// Returns the path of a frame's file: `a-2.png` of `a.png`.
    static func numbered(_ path: String, number: Int) -> String {
        let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[start...].lastIndex(of: "."), dot > start else { return "\(path)-\(number)" }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }
}
