import Eidetic
import EideticCLI
import EideticCore

/// The options `--sandbox` and `--no-sandbox`.
enum SandboxOption {
    static let definition = Option(
        name: "sandbox",
        help: "decode all images in sandboxed processes, so that a harmful image can crash only its decoder"
    )

    static let omission = Option(
        name: "no-sandbox",
        help: "decode untrusted images, and SVG, in this process instead of in sandboxed processes"
    )

    /// Both options.
    static let all: [Option] = [definition, omission]

    /// Returns the policy of a command line whose images may come from a network.
    static func policyOfLoads(from arguments: Arguments) -> DecodePolicy {
        arguments.contains(definition) ? .sandboxed : arguments.contains(omission) ? .inProcess : .automatic
    }

    /// Returns the policy of a command line whose images are files.
    static func policy(from arguments: Arguments) -> DecodePolicy {
        policyOfLoads(from: arguments).resolved(isFromNetwork: false)
    }

    /// Writes what restricts the processes: a line of JSON, or a line of errors if the system refuses something.
    static func report(asJSON: Bool) async {
        guard let status = try? await DecodeSandbox.status() else { return }
        if asJSON {
            let names = { (names: [String]) in JSON.array(names.map { .string($0) }) }
            let members: [(name: String, value: JSON)] = [
                ("restrictions", names(status.restrictions)), ("missing", names(status.missingRestrictions)),
            ]
            TextStream.output.writeLine(JSON.object([("sandbox", .object(members))]).text)
        } else if !status.missingRestrictions.isEmpty {
            Diagnostics.report("the sandbox has \(status)")
        }
    }
}
