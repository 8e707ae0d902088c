import EideticCodecs
import EideticCLI
import EideticCore

/// The command `eidetic convert`, which encodes images in another format or size.
enum ConvertCommand {
    static let command: Command = .init(
        name: "convert",
        summary: "convert images to another format or size",
        operands: Operands(
            synopsis: "IN OUT | --out DIR IN… | --in-place IN… | --animate MS IN… OUT",
            help: "image files; @FILE for a list of files; - is standard input or standard output",
            completion: .files
        ),
        options: RenderingOptions.all + EncodingOptions.all + FrameOptions.all + [
            output.definition, template.definition, inPlace, CommonOptions.overwrite, recursive,
            CommonOptions.jobs.definition, SandboxOption.definition, SandboxOption.omission, CommonOptions.quiet,
            CommonOptions.json,
        ],
        notes: [
            "The format of OUT follows from its file extension, and is PNG for standard output. OUT is written only after "
                + "the image is encoded. The result is upright and in sRGB, or with --metadata keep in the original colours.",
            "An animation is written as an animation (\(animated)); with other formats it fails, unless --frame is given.",
            "With --out DIR, files keep their names, with the extension of the new format; one that fails "
                + "does not stop the others.",
            "Inputs are overwritten only with --in-place, other files only with --overwrite.",
            "Formats: \(ImageEncoder.supportedFormats.map(\.rawValue).joined(separator: ", ")).",
        ],
        commonOptions: [
            "size", "format", "quality", "max-bytes", "metadata", "out", "in-place", "overwrite", "recursive", "quiet",
            "json",
        ],
        run: run
    )

    static let output = TypedOption<String>(
        "out",
        placeholder: "DIR|FILE",
        help: "write all images IN to this directory; with one IN and a name with an extension, to this file"
    )

    static let template = TypedOption<OutputTemplate>(
        "out-template",
        placeholder: "NAME",
        expecting: "a name such as {name}_{w}x{h}.{ext}",
        help: "the names of the files in --out: {name}, {w}, {h}, {n} (the number in the list) and {ext}",
        parse: { OutputTemplate($0) }
    )

    static let inPlace = Option(name: "in-place", help: "replace each IN with the result, in the same format")

    static let recursive = Option(name: "recursive", letter: "r", help: "also take the images in directories")

    private static var animated: String { ImageEncoder.animatedFormats.map(\.displayName).joined(separator: ", ") }

    private static func run(_ arguments: Arguments) -> ExitStatus {
        let inputs = InputFiles(arguments.operands, isRecursive: arguments.contains(recursive))
        if let problem = problem(in: arguments, inputs: inputs) {
            return CommandRunner.usageError([problem], path: [Program.root, command])
        }
        for problem in inputs.problems { Diagnostics.report(problem) }
        if inputs.files.isEmpty, !inputs.problems.isEmpty { return .failure }
        let status = BatchConversion(arguments, files: inputs.files).run()
        return inputs.problems.isEmpty ? status : .failure
    }

    /// Returns the reason why options cannot be combined; `nil` if they can.
    private static func problem(in arguments: Arguments, inputs: InputFiles) -> String? {
        if let problem = RenderingOptions.problem(in: arguments) ?? FrameOptions.problem(in: arguments) {
            return problem
        }
        let isMany = arguments[output] != nil || arguments.contains(inPlace)
        if isMany, arguments.contains(FrameOptions.animate.definition) {
            return "--animate and --\(arguments[output] == nil ? inPlace.name : "out") cannot be combined"
        }
        if arguments.contains(inPlace) {
            let others = [
                output.definition, EncodingOptions.format.definition, FrameOptions.frames, template.definition,
            ]
            if let other = others.first(where: arguments.contains) {
                return "--in-place and --\(other.name) cannot be combined"
            }
            return arguments.operands.contains("-") ? "--in-place requires files" : nil
        }
        if arguments[template] != nil, arguments[output] == nil { return "--out-template requires --out" }
        let target = arguments[output] ?? arguments.operands.last ?? "-"
        if target == "-" {
            let others = [FrameOptions.frames, CommonOptions.json]
            if let other = others.first(where: arguments.contains) { return "--\(other.name) requires a file OUT" }
        }
        if arguments[output] != nil { return nil }
        return problem(ofPair: arguments, fileCount: inputs.files.count + inputs.problems.count, target: target)
    }

    /// Returns the reason why there is no OUT.
    private static func problem(ofPair arguments: Arguments, fileCount: Int, target: String) -> String? {
        if arguments[FrameOptions.animate] != nil {
            if fileCount < 2 { return "--animate requires IN and OUT" }
        } else if fileCount != 2 {
            return fileCount < 2
                ? "there is no OUT"
                : "there are \(fileCount - 1) images and one OUT; use --out, --in-place or --animate"
        }
        let isKnown = arguments[EncodingOptions.format] != nil || target == "-" || ImageFormat(fileName: target) != nil
        if isKnown { return nil }
        let ending = target.split(separator: ".").last.map(String.init) ?? ""
        let hint = Suggestion.text(for: ending, among: ImageEncoder.supportedFormats.map(\.fileExtension))
        return "\"\(target)\" has no known file extension; use --format\(hint)"
    }

    /// Calls a function, whose errors then begin with a path.
    static func named<Result>(
        _ path: String,
        body: () throws(EideticError) -> Result
    ) throws(EideticError) -> Result {
        do throws(EideticError) {
            return try body()
        } catch {
            throw error.replacingMessage(with: "\(path): \(error.message)")
        }
    }
}
