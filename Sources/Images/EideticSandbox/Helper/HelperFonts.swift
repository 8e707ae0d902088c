import CLinux
import Glibc

/// The fonts of text in SVG, the only files that a decoding process can read, and only one that was started after the
/// first SVG had come.
package enum HelperFonts {
    /// The variables that tell where a user's fonts are.
    static let variables: [String] = ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"]

    /// The directories of fonts, and of fontconfig's configuration and caches, as far as they are there.
    package static var directories: [String] {
        let system = [
            "/etc/fonts", "/usr/share/fontconfig", "/usr/share/xml/fontconfig", "/usr/share/fonts",
            "/usr/local/share/fonts", "/var/cache/fontconfig",
        ]
        return (system + userDirectories).filter { $0.hasPrefix("/") && access($0, R_OK | X_OK) == 0 }
    }

    private static var userDirectories: [String] {
        let home = variable("HOME")
        let directories: [String?] = [
            home.map { $0 + "/.fonts" }, home.map { $0 + "/.fontconfig" },
            (variable("XDG_DATA_HOME") ?? home.map { $0 + "/.local/share" }).map { $0 + "/fonts" },
            (variable("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }).map { $0 + "/fontconfig" },
            (variable("XDG_CACHE_HOME") ?? home.map { $0 + "/.cache" }).map { $0 + "/fontconfig" },
        ]
        return directories.compactMap(\.self)
    }

    private static func variable(_ name: String) -> String? {
        guard let value = secure_getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }
}
