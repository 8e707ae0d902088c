import EideticCore
import Glibc
package import Testing

/// A real redis-server on a free port of the loopback interface and on a Unix socket, without files of its own.
///
/// It is killed when this object is deallocated.
package final class RedisProcess: Sendable {
    /// The port.
    package let port: Int
    /// The server's URL.
    package var url: String { "redis://127.0.0.1:\(port)" }
    /// The path of its Unix socket.
    package let socket: String

    private let directory: TemporaryDirectory
    private let arguments: [String]
    private let process: Guarded<Subprocess>

    /// A Boolean value indicating whether redis-server and redis-cli are installed.
    package static var isInstalled: Bool {
        ["redis-server", "redis-cli"].allSatisfy { Subprocess.executablePath(for: $0) != nil }
    }

    /// Starts the server with options such as `["--requirepass", "secret"]`, or as a node of a future cluster; returns
    /// once it accepts connections.
    package init(options: [String] = [], isNode: Bool = false) async throws {
        directory = try TemporaryDirectory(named: "redis")
        socket = directory.path(of: "socket")
        let common =
            ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory.path]
            + ["--unixsocket", socket, "--cluster-enabled", isNode ? "yes" : "no"] + options
        var (port, started, failure): (Int, Subprocess?, (any Error)?) = (0, nil, nil)
        // Another program may have taken the port, or that of the cluster, meanwhile.
        for _ in 0..<5 where started == nil {
            port = try Self.unusedPort()
            do { started = try await Self.start(["--port", "\(port)"] + common) } catch { failure = error }
        }
        guard let started else { throw failure ?? EideticError(.notFound, message: "redis-server did not start") }
        self.port = port
        arguments = ["--port", "\(port)"] + common
        process = Guarded(started)
    }

    /// Returns a port to which that of the cluster, 10,000 higher, can belong.
    private static func unusedPort() throws -> Int {
        var port = try LoopbackPort.unused()
        while port > 55_535 { port = try LoopbackPort.unused() }
        return port
    }

    private static func start(_ arguments: [String]) async throws -> Subprocess {
        let process = try Subprocess("redis-server", arguments: arguments)
        guard await process.waitForOutput("Ready to accept connections") else {
            throw EideticError(.notFound, message: "redis-server did not start: \(process.outputSoFar)")
        }
        return process
    }

    /// The process identifier.
    package var identifier: Int32 { process.withLock { $0.identifier } }

    /// Sends a signal.
    package func send(_ signal: Int32) { process.withLock { $0.kill(signal) } }

    /// Kills the server, and waits for its end.
    package func kill() async {
        let process = process.withLock { $0 }
        process.kill()
        _ = await process.waitUntilExit()
    }

    /// Starts the server again after ``kill()``, without its data.
    package func restart() async throws {
        let next = try await Self.start(arguments)
        process.withLock { $0 = next }
    }

    /// Runs a command by way of redis-cli, and returns its output without the line break at the end.
    @discardableResult
    package func command(_ arguments: String...) async throws -> String {
        let result = try await Subprocess.run("redis-cli", arguments: ["-p", "\(port)"] + arguments)
        return String(result.outputText.dropLast(result.outputText.hasSuffix("\n") ? 1 : 0))
    }

    /// Returns the names of all values of tiers, without leases.
    package func valueNames() async throws -> [String] {
        try await command("KEYS", "*}").split(separator: "\n").map(String.init).filter { !$0.isEmpty }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, with a message, if redis-server is not installed.
    package static var needsRedis: Self { .enabled(if: RedisProcess.isInstalled, "redis-server is not installed") }
}
