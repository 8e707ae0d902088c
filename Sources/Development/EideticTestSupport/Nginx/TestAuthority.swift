import EideticCore

/// A certificate authority for one test, with a certificate for `localhost` and `127.0.0.1` that it has signed.
struct TestAuthority: Sendable {
    /// The path of the authority's own certificate, which a client must trust.
    let file: String
    let certificateFile: String
    let keyFile: String

    /// Creates keys and certificates in a directory with `openssl`, valid for ten days.
    init(in directory: TemporaryDirectory) async throws {
        file = directory.path(of: "authority.pem")
        certificateFile = directory.path(of: "server.pem")
        keyFile = directory.path(of: "server.key")
        let authorityKey = directory.path(of: "authority.key")
        let common = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "10"]
        try await Self.openssl(
            common + ["-subj", "/CN=Eidetic test authority", "-keyout", authorityKey, "-out", file]
        )
        try await Self.openssl(
            common + [
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-addext", "basicConstraints=critical,CA:FALSE", "-CA", file, "-CAkey", authorityKey,
                "-keyout", keyFile, "-out", certificateFile,
            ]
        )
    }

    private static func openssl(_ arguments: [String]) async throws {
        let result = try await Subprocess.run("openssl", arguments: arguments)
        guard result.status == .exited(0) else {
            throw EideticError(.tlsFailure, message: "openssl \(arguments.joined(separator: " ")): \(result.errorText)")
        }
    }
}
