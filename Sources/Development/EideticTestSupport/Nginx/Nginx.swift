package import EideticCore
import Glibc
package import Testing

/// A real web server on a free port of the loopback interface, with files of its own and a log that a test can read.
///
/// ```swift
/// let server = try await Nginx()
/// try server.put(jpeg, at: "a.jpg")
/// … "\(server.url)/a.jpg" …
/// #expect(try await server.requests().count == 1)
/// ```
///
/// One process without a master, so that killing it leaves nothing behind. Killed when it is given up.
package final class Nginx: Sendable {
    /// What to change of the plain server.
    package struct Configuration: Sendable {
        /// Directives for the `server` block: further `location` blocks, `limit_rate 10k;` and the like.
        package var server = ""
        /// Directives for the `http` block: `limit_conn_zone`, `map` and the like.
        package var http = ""
        /// Whether it also listens with TLS (and HTTP/2) as ``Nginx/secureURL``.
        ///
        /// Also at 127.0.0.2, a name that its certificate does not cover.
        package var usesTLS = false

        package init(server: String = "", http: String = "", usesTLS: Bool = false) {
            self.server = server
            self.http = http
            self.usesTLS = usesTLS
        }
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    package let url: String
    /// `https://localhost:PORT`; `nil` without TLS.
    package let secureURL: String?
    /// The PEM file of the authority that signed its certificate; `nil` without TLS.
    package let authorityFile: String?
    /// The port of ``url``.
    package let port: Int

    private let directory: TemporaryDirectory
    private let process: Subprocess
    private let pool = WorkPool(name: "nginx", maximumThreadCount: 1)

    /// The number of its process.
    package var identifier: Int32 { process.identifier }

    /// Whether the program is there.
    package static var isInstalled: Bool { Subprocess.executablePath(for: "nginx") != nil }

    /// Starts the server; returns when it accepts connections.
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

    /// Puts a file where the server finds it; gives its URL.
    @discardableResult
    package func addFile(_ bytes: [UInt8], at path: String) throws(SystemError) -> String {
        try directory.write(bytes, to: "files/\(path)")
        return "\(url)/\(path)"
    }

    /// Takes a file away.
    package func removeFile(at path: String) throws(SystemError) {
        try FileSystem().unlink(directory.path(of: "files/\(path)"))
    }

    /// Kills the server: from now on connections are refused, and open ones are cut.
    package func stop() async {
        process.kill()
        _ = await process.waitUntilExit()
    }

    /// All requests that were answered or given up so far, in the order of their ends.
    package func requests() async throws -> [Request] {
        // One process handles one event after the other: once it answers this, it has logged what it did before.
        try await pool.run { [port] _ throws(EideticError) in
            _ = try LoopbackPort.sendRequest("GET /barrier HTTP/1.0\r\n\r\n", port: port)
        }
        let log = try directory.contents(of: "access.log")
        return String(decoding: log, as: UTF8.self).split(separator: "\n").compactMap { Request(line: $0) }
    }

    /// How many requests there were for a path ("/a.jpg").
    package func requestCount(for path: String) async throws -> Int {
        try await requests().count { $0.path == path }
    }

    /// Starts the program; tries other ports where somebody took these in between.
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
            // Said after the sockets are open, so a connection made from now on is answered.
            if await process.waitForOutput("event method") { return (process, ports) }
            errorText = await process.waitUntilExit().errorText
        }
        throw EideticError(.refused, message: "nginx did not start: \(errorText)")
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, and says so, where nginx is not installed.
    package static var needsNginx: Self { .enabled(if: Nginx.isInstalled, "nginx is not installed") }
}
