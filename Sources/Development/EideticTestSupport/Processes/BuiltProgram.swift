import EideticCore

/// The programs of the build, in the directory of the one that runs.
package enum BuiltProgram {
    /// Returns the path of a program.
    package static func path(of name: String) -> String {
        let own = (try? FileSystem().linkTarget(of: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return own.lastIndex(of: "/").map { own[...$0] + name } ?? name
    }
}
