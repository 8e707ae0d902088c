import Glibc

/// The places of the transfer process of this user.
package enum TransferLocations {
    /// The directory of the journal and the files: `$XDG_STATE_HOME/eidetic/transfers`, by default
    /// `~/.local/state/eidetic/transfers`; `nil` without a home directory.
    package static var directory: String? {
        if let state = variable("XDG_STATE_HOME") { return "\(state)/eidetic/transfers" }
        return variable("HOME").map { "\($0)/.local/state/eidetic/transfers" }
    }

    /// The path of the socket: `$XDG_RUNTIME_DIR/eidetic/transfer.socket`; `nil` without a runtime directory.
    package static var socketPath: String? {
        variable("XDG_RUNTIME_DIR").map { "\($0)/eidetic/transfer.socket" }
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
