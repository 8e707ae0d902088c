import EideticCodecs
import EideticCore

/// `eidetic inspect`: says what files are, without decoding a pixel.
enum InspectCommand {
    static let command = Command(
        name: "inspect",
        summary: "say what picture files are: format, size, orientation, frames",
        operands: Operands(
            synopsis: "FILE…",
            help: "picture files; - is the standard input",
            count: 1...Int.max,
            completion: .files
        ),
        options: [CommonOptions.json],
        notes: [
            "Width and height are those stored in the file; an orientation from 5 to 8 exchanges them when the picture "
                + "is shown upright.",
            "In JSON, \"loop\" is how often an animation plays, 0 for ever; \"error\" is null for a good file. What is "
                + "not known is null.",
            "The exit status is 0 where all files are pictures, 1 where some are not, 2 for a wrong command line.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments) -> ExitStatus {
        var status = ExitStatus.success
        for path in arguments.operands where TextStream.output.failure == nil {
            let inspection = Inspection(of: path)
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
