import CBuild
import EideticCore

/// The output of `--version`.
package enum VersionText {
    /// Returns the name and version of a program, the commit of its build, and what the program adds.
    package static func text(for root: Command) -> String {
        let commit = String(cString: eidetic_build_commit())
        let lines = [
            "\(root.name) \(Version.current)",
            "commit: \(commit.isEmpty ? "not recorded (script/package records it)" : commit)",
        ]
        return (lines + root.versionDetails().map { "\($0.name): \($0.value)" }).joined(separator: "\n")
    }
}
