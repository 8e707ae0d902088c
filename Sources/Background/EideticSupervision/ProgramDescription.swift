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

    package init(executable: String) { self.executable = executable }

    /// The limits of the numbers of arguments and variables, and of the length of each; a packet limits the sum.
    private static let listLimit = 1_024
    private static let textLimit = 32_768
}

extension ProgramDescription: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(executable)
        writer.append(list: arguments) { $0.append($1) }
        writer.append(list: environment) { $0.append($1) }
        writer.append(optional: directory) { $0.append($1) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        executable = try reader.text(limit: SupervisionProtocol.pathLimit)
        arguments = try Self.texts(from: &reader)
        environment = try Self.texts(from: &reader)
        directory = try reader.optional { (reader) throws(WireError) in
            try reader.text(limit: SupervisionProtocol.pathLimit)
        }
    }

    private static func texts(from reader: inout WireReader) throws(WireError) -> [String] {
        try reader.list(limit: listLimit) { (reader) throws(WireError) in try reader.text(limit: textLimit) }
    }
}
