import EideticCore
import Glibc

extension SupervisionProtocol {
    /// The name of the socket in the runtime directory that `eidetic app` uses.
    package static let controlSocketName = "control"
    /// The environment variable with the path of the runtime directory.
    package static let runtimeDirectoryVariable = "EIDETIC_RUNTIME_DIR"

    /// The path in ``runtimeDirectoryVariable``; else `/run/eidetic` for root, and for others `eidetic` in the runtime
    /// directory of the user, or ``fallbackRuntimeDirectory``.
    package static var defaultRuntimeDirectory: String {
        if let given = UserDirectories.variable(runtimeDirectoryVariable) { return given }
        if geteuid() == 0 { return "/run/eidetic" }
        return UserDirectories.runtime.map { "\($0)/eidetic" } ?? fallbackRuntimeDirectory
    }

    /// The place of users without a runtime directory: `eidetic/run` in `XDG_STATE_HOME`, as the transfer process has
    /// its socket below it.
    package static var fallbackRuntimeDirectory: String {
        UserDirectories.state.map { "\($0)/eidetic/run" } ?? "/run/user/\(geteuid())/eidetic"
    }
}
