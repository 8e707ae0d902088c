import Glibc

extension SupervisionProtocol {
    /// The name of the socket in the runtime directory that `eidetic app` uses.
    package static let controlSocketName = "control"
    /// The environment variable with the path of the runtime directory.
    package static let runtimeDirectoryVariable = "EIDETIC_RUNTIME_DIR"

    /// The path in ``runtimeDirectoryVariable``; else `/run/eidetic` for root, and `eidetic` in `XDG_RUNTIME_DIR` or in
    /// `/run/user/UID` for others.
    package static var defaultRuntimeDirectory: String {
        if let given = path(in: runtimeDirectoryVariable) { return given }
        if geteuid() == 0 { return "/run/eidetic" }
        return (path(in: "XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())") + "/eidetic"
    }

    private static func path(in variable: String) -> String? {
        getenv(variable).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
