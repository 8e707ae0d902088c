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
            _ = try directory.write(Array(text.utf8), to: "applications/\(identifier).desktop")
        }
    }

    /// Makes an entry the one that opens URLs of a scheme, for programs with the variables of ``environment``.
    func setDefault(_ identifier: String, forScheme scheme: String) throws {
        let text = "[Default Applications]\nx-scheme-handler/\(scheme)=\(identifier).desktop\n"
        _ = try directory.write(Array(text.utf8), to: "mimeapps.list")
    }

    /// The variables of a program that knows these entries only.
    var environment: [String: String?] {
        ["XDG_DATA_HOME": directory.path, "XDG_DATA_DIRS": directory.path, "XDG_CONFIG_HOME": directory.path]
    }
}
