/// The places of the transfer process of this user.
package enum TransferLocations {
    /// The directory of the journal and the files: `$XDG_STATE_HOME/eidetic/transfers`, by default
    /// `~/.local/state/eidetic/transfers`; `nil` without a home directory.
    package static var directory: String? { UserDirectories.state.map { "\($0)/eidetic/transfers" } }

    /// The path of the socket: `eidetic/transfer.socket` in the user's runtime directory, or else in the directory;
    /// `nil` without both.
    package static var socketPath: String? {
        UserDirectories.runtime.map { "\($0)/eidetic/transfer.socket" } ?? directory.map { "\($0)/transfer.socket" }
    }

    /// Returns the path of the file that is locked by a process while it replaces a socket.
    package static func lockPath(for path: String) -> String {
        path.hasSuffix(".socket") ? "\(path.dropLast(".socket".count)).lock" : "\(path).lock"
    }

    /// Returns the name of the application of a program, without characters that a name cannot have.
    package static func applicationName(of program: some StringProtocol) -> String {
        let allowed = program.unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": Character(scalar)
            default: "_"
            }
        }
        return String(allowed.prefix(200))
    }
}
