import EideticCodecs
import EideticCLI
import EideticCore

/// The command `eidetic inspect`, which shows the headers of image files without decoding them.
enum InspectCommand {
    static let hash = Option(name: "hash", help: "decode the images, and show BlurHash, ThumbHash and dominant colour")

    static let check = Option(name: "check", help: "decode the images, and report all damage, not only truncation")

    static let command = Command(
        name: "inspect",
        summary: "show format, size, orientation and frames of image files",
        operands: Operands(
            synopsis: "FILE… | @FILE | -",
            help: "image files; @FILE for a list of files; - is standard input",
            completion: .files
        ),
        options: [
            check, hash, ConvertCommand.recursive, SandboxOption.definition, SandboxOption.omission,
            CommonOptions.quiet, CommonOptions.json,
        ],
        notes: [
            "Width and height are those stored in the file; with orientations 5 to 8, the upright image has them swapped.",
            "Truncation is reported if header and length show it; --check decodes the file.",
            "In JSON, \"loop\" is the number of times that an animation plays (0: forever); \"error\" is null for a valid "
                + "file; unknown values are null.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments) -> ExitStatus {
        let inputs = InputFiles(arguments.operands, isRecursive: arguments.contains(ConvertCommand.recursive))
        for problem in inputs.problems { Diagnostics.report(problem) }
        var status: ExitStatus = inputs.problems.isEmpty ? .success : .failure
        for file in inputs.files where TextStream.output.failure == nil {
            let inspection = Inspection(
                of: file.path,
                makesPlaceholder: arguments.contains(hash),
                decodesAll: arguments.contains(check),
                decodePolicy: SandboxOption.policy(from: arguments)
            )
            if inspection.error != nil { status = .failure }
            if inspection.error == nil, arguments.contains(CommonOptions.quiet) { continue }
            write(inspection, asJSON: arguments.contains(CommonOptions.json))
        }
        return status
    }

    private static func write(_ inspection: Inspection, asJSON: Bool) {
        if asJSON {
            TextStream.output.writeLine(inspection.json.text)
            TextStream.output.flush()
        } else if let error = inspection.error {
            Diagnostics.report(error, of: inspection.path)
        } else {
            TextStream.output.writeLine(TerminalText.sanitized(inspection.text))
        }
    }
}
