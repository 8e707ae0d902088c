package import EideticCore
import Glibc
package import Testing

/// Third-party images for tests, in the directory that the environment variable `EIDETIC_CORPUS` names.
package enum Corpus {
    /// The directory; `nil` if the variable is not set or does not name a directory.
    package static let directory = directoryFromEnvironment("EIDETIC_CORPUS")

    /// Returns the sorted paths, relative to the directory, of all files with one of these lowercase extensions, or of
    /// all files for `nil`.
    package static func files(withExtensions extensions: Set<String>? = nil) throws(SystemError) -> [String] {
        guard let directory else { return [] }
        var found: [String] = []
        try collect(below: "", in: directory, extensions: extensions, into: &found)
        return found.sorted()
    }

    /// Returns the bytes of a file at a path relative to the directory.
    package static func bytes(of name: String) throws(SystemError) -> [UInt8] {
        try FileSystem().contents(of: "\(directory ?? "")/\(name)")
    }

    private static func collect(
        below folder: String,
        in root: String,
        extensions: Set<String>?,
        into found: inout [String]
    ) throws(SystemError) {
        let files = FileSystem()
        for name in try files.entryNames(in: "\(root)/\(folder)") {
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            switch try files.linkStatus(of: "\(root)/\(path)").kind {
            case .directory: try collect(below: path, in: root, extensions: extensions, into: &found)
            case .regular:
                let ending = name.split(separator: ".").last.map { String($0).lowercased() } ?? ""
                if extensions?.contains(ending) ?? true { found.append(path) }
            case .symbolicLink, .characterDevice, .other: break
            }
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, with a message, if `EIDETIC_CORPUS` does not name a directory.
    package static var needsCorpus: Self {
        .enabled(if: Corpus.directory != nil, "EIDETIC_CORPUS does not name a directory of images")
    }
}

/// Returns the directory that an environment variable names; `nil` if there is no such directory.
func directoryFromEnvironment(_ variable: String) -> String? {
    guard let value = getenv(variable) else { return nil }
    let path = String(cString: value)
    return (try? FileSystem().status(of: path).kind) == .directory ? path : nil
}
