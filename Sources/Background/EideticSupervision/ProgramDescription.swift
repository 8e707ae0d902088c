package import EideticCore

/// The program of an application that the supervisor can start.
package struct ProgramDescription: Sendable, Hashable {
    /// An absolute path without symbolic links: a process is compared with it by its path.
    package var executable: String
    /// The arguments after the program's name.
    package var arguments: [String] = []
    /// The environment, as "NAME=value".
    package var environment: [String] = []
    /// The working directory; an absolute path.
    package var directory: String?

    /// The limits of the numbers of arguments and variables, and of the length of each; a packet limits the sum.
    private static let listLimit = 1_024
    private static let textLimit = 32_768
}

extension ProgramDescription: WireRecord {
    package init(executable: String) { self.init(executable: executable, arguments: []) }

    package static let layout = Layout(
        Self.init,
        Field(\.executable, .path),
        Field(\.arguments, .list(.text(limit: textLimit), limit: listLimit)),
        Field(\.environment, .list(.text(limit: textLimit), limit: listLimit)),
        Field(\.directory, .optional(.path))
    )
}
