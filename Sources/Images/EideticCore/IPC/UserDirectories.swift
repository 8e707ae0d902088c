import Glibc

/// The directories of this user, as the XDG base directory specification names them.
package enum UserDirectories {
    /// `XDG_RUNTIME_DIR`; without it `/run/user/UID`, if that is there and this user's; `nil` if there is neither.
    ///
    /// Root needs the variable: whoever works as root has other places.
    package static var runtime: String? {
        if let given = variable("XDG_RUNTIME_DIR") { return given }
        let path = "/run/user/\(geteuid())"
        guard geteuid() != 0, let status = try? FileSystem().status(of: path), status.kind == .directory,
            status.owner == geteuid()
        else { return nil }
        return path
    }

    /// `XDG_STATE_HOME`, by default `~/.local/state`; `nil` without a home directory.
    package static var state: String? {
        variable("XDG_STATE_HOME") ?? variable("HOME").map { "\($0)/.local/state" }
    }

    /// Returns the absolute path in a variable of the environment; `nil` if it has none.
    package static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
