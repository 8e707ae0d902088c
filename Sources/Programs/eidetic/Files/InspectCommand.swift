import EideticCodecs
import EideticCLI
import EideticCore

/// The command `eidetic inspect`, which shows the headers of image files without decoding them.
enum InspectCommand {
    static let hash = Option(name: "hash", help: "decode the images, and show BlurHash, ThumbHash and dominant colour")

    static let command = Command(
        name: "inspect",
        summary: "show format, size, orientation and frames of image files",
        operands: Operands(
            synopsis: "FILE…",
            help: "image files; - is standard input",
            count: 1...Int.max,
            completion: .files
        ),
        options: [hash, SandboxOption.definition, SandboxOption.omission, CommonOptions.json],
        notes: [
            "Width and height are those stored in the file; for orientations 5 to 8, the upright image has them exchanged.",
            "In JSON, \"loop\" is the number of times that an animation plays (0: forever); \"error\" is null for a valid "
                + "file; unknown values are null.",
            "Exit status: 0 if all files are images, 1 if some are not, 2 for an invalid command line.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments) -> ExitStatus {
        var status = ExitStatus.success
        for path in arguments.operands where TextStream.output.failure == nil {
            let inspection = Inspection(
                of: path,
                makesPlaceholder: arguments.contains(hash),
                decodePolicy: SandboxOption.policy(from: arguments)
            )
            if inspection.error != nil { status = .failure }
            write(inspection, asJSON: arguments.contains(CommonOptions.json))
        }
        return status
    }

    private static func write(_ inspection: Inspection, asJSON: Bool) {
        if asJSON {
            TextStream.output.writeLine(inspection.json.text)
        } else if let error = inspection.error {
            Diagnostics.report("\(inspection.path): \(error.message)")
        } else {
            TextStream.output.writeLine(TerminalText.sanitized(inspection.text))
        }
    }
}
