import EideticTestSupport
import Glibc

/// A directory of desktop entries for tests.
final class DesktopEntries {
    private let directory: TemporaryDirectory
    var path: String { directory.path(of: "applications") }

    /// Creates an entry for each identifier, with further lines.
    init(_ entries: [String: String]) throws {
        directory = try TemporaryDirectory(named: "entries")
        mkdir(path, 0o700)
        for (identifier, lines) in entries {
            let text = "[Desktop Entry]\nType=Application\nName=Example \(identifier)\nExec=/bin/false\n\(lines)\n"
            let file = fopen("\(path)/\(identifier).desktop", "w")
            fputs(text, file)
            fclose(file)
        }
    }
}
