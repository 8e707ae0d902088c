package import EideticCore
import Glibc
package import Testing

/// An nginx server on a free port of the loopback interface, with its own files and a log that a test can read.
///
/// ```swift
/// let server = try await Nginx()
/// try server.put(jpeg, at: "a.jpg")
/// … "\(server.url)/a.jpg" …
/// #expect(try await server.requests().count == 1)
/// ```
///
/// The server is one process without a master process, so killing it leaves no children. It is killed when this object
/// is deallocated.
package final class Nginx: Sendable {
    /// Additions to the default configuration.
    package struct Configuration: Sendable {
        /// Directives for the `server` block, such as more `location` blocks or `limit_rate 10k;`.
        package var server = ""
        /// Directives for the `http` block, such as `limit_conn_zone` or `map`.
        package var http = ""
        /// A Boolean value indicating whether the server also listens with TLS and HTTP/2, at ``Nginx/secureURL``.
        ///
        /// It then listens at 127.0.0.2 too, an address that its certificate does not cover.
        package var usesTLS = false

        package init(server: String = "", http: String = "", usesTLS: Bool = false) {
            self.server = server
            self.http = http
            self.usesTLS = usesTLS
        }
    }

    /// The server's URL, `http://127.0.0.1:PORT`, without a trailing slash.
    package let url: String
    /// The server's HTTPS URL, `https://localhost:PORT`; `nil` without TLS.
    package let secureURL: String?
    /// The path of the PEM file of the authority that signed the server's certificate; `nil` without TLS.
    package let authorityFile: String?
    /// The port of ``url``.
    package let port: Int

    private let directory: TemporaryDirectory
    private let process: Subprocess
    private let pool = WorkPool(name: "nginx", maximumThreadCount: 1)

    /// The process identifier.
    package var identifier: Int32 { process.identifier }

    /// A Boolean value indicating whether nginx is installed.
    package static var isInstalled: Bool { Subprocess.executablePath(for: "nginx") != nil }

    /// Starts the server; returns once it accepts connections.
    package init(_ configuration: Configuration = Configuration()) async throws {
        directory = try TemporaryDirectory(named: "nginx")
        try FileSystem().makeDirectory(directory.path(of: "files"), mode: 0o755)
        let authority = configuration.usesTLS ? try await TestAuthority(in: directory) : nil
        authorityFile = authority?.file
        let started = try await Self.start(configuration, authority: authority, in: directory)
        process = started.process
        port = started.ports.plain
        url = "http://127.0.0.1:\(port)"
        secureURL = authority.map { _ in "https://localhost:\(started.ports.secure)" }
    }

    /// Adds a file to the server and returns its URL.
    @discardableResult
    package func addFile(_ bytes: [UInt8], at path: String) throws(SystemError) -> String {
        try directory.write(bytes, to: "files/\(path)")
        return "\(url)/\(path)"
    }

    /// Removes a file from the server.
    package func removeFile(at path: String) throws(SystemError) {
        try FileSystem().unlink(directory.path(of: "files/\(path)"))
    }

    /// Kills the server: new connections are refused, and open ones are closed.
    package func stop() async {
        process.kill()
        _ = await process.waitUntilExit()
    }

    /// Returns all requests that have ended so far, in the order of their ends.
    package func requests() async throws -> [Request] {
        // The single process handles events in sequence, so after this response all earlier requests are logged.
        try await pool.run { [port] _ throws(EideticError) in
            _ = try LoopbackPort.sendRequest("GET /barrier HTTP/1.0\r\n\r\n", port: port)
        }
        let log = try directory.contents(of: "access.log")
        return String(decoding: log, as: UTF8.self).split(separator: "\n").compactMap { Request(line: $0) }
    }

    /// Returns the number of requests for a path, such as "/a.jpg".
    package func requestCount(for path: String) async throws -> Int {
        try await requests().count { $0.path == path }
    }

    /// Starts the program; retries with other ports if another process has taken these.
    private static func start(
        _ configuration: Configuration,
        authority: TestAuthority?,
        in directory: TemporaryDirectory
    ) async throws -> (process: Subprocess, ports: NginxPorts) {
        var errorText = ""
        for _ in 0..<5 {
            let ports = try NginxPorts()
            let text = NginxConfigurationFile.text(
                for: configuration,
                authority: authority,
                ports: ports,
                directory: directory.path
            )
            let file = try directory.write(Array(text.utf8), to: "nginx.conf")
            let process = try Subprocess("nginx", arguments: ["-e", "stderr", "-p", directory.path, "-c", file])
            // nginx logs this once its sockets are open, so connections are accepted from here on.
            if await process.waitForOutput("event method") { return (process, ports) }
            errorText = await process.waitUntilExit().errorText
        }
        throw EideticError(.refused, message: "nginx did not start: \(errorText)")
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, with a message, if nginx is not installed.
    package static var needsNginx: Self { .enabled(if: Nginx.isInstalled, "nginx is not installed") }
}
