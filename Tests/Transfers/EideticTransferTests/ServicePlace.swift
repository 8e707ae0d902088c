import EideticCore
import EideticTestSupport
import EideticTransfer
import Glibc

/// A directory with a transfer process of its own, which clients start.
final class ServicePlace: Sendable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try FileSystem().makeDirectory(directory.path(of: "output"))
    }

    deinit { for process in processes { kill(process, SIGKILL) } }

    static let service = BuiltProgram.path(of: "eidetic-transferd")

    /// The location of the transfer process.
    var location: ServiceLocation {
        var location = ServiceLocation(
            socketPath: directory.path(of: "socket"),
            directory: directory.path(of: "service")
        )
        location.program = .path(Self.service)
        return location
    }

    func configuration(
        _ identifier: String,
        application: String = "test"
    ) -> BackgroundURLSession.Configuration {
        var configuration = BackgroundURLSession.Configuration(identifier: identifier)
        (configuration.service, configuration.application) = (location, application)
        return configuration
    }

    /// The transfer processes of this directory that run.
    var processes: [Int32] { processes(running: Self.service, with: directory.path(of: "service")) }

    /// Returns the processes of a program with an argument.
    func processes(running program: String, with argument: String) -> [Int32] {
        let files = FileSystem()
        let names = (try? files.entryNames(in: "/proc")) ?? []
        return names.compactMap(Int32.init).filter { process in
            guard let line = try? files.contents(of: "/proc/\(process)/cmdline", limit: 65_536) else { return false }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            return words.first == program && words.contains(argument)
        }
    }

    /// Kills the transfer process; returns whether one ran.
    @discardableResult
    func killService() -> Bool {
        let running = processes
        for process in running { kill(process, SIGKILL) }
        return !running.isEmpty
    }

    /// Starts an application in a process of its own.
    func startProbe(_ identifier: String, url: String, count: Int, mode: String = "run", hasService: Bool = true)
        throws(SystemError) -> Subprocess
    {
        let arguments = [
            "session", directory.path, hasService ? Self.service : "-", identifier, url, "\(count)", mode,
        ]
        return try Subprocess(BuiltProgram.path(of: "eidetic-probe"), arguments: arguments)
    }

    /// The lines that applications have written.
    var log: [String] {
        let bytes = (try? FileSystem().contents(of: directory.path(of: "log"))) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

/// A server of numbered files in changing versions, which cuts connections, and receives uploads.
final class NumberedServer: Sendable {
    private final class Versions: Sendable {
        /// The digests of the bodies that were received as a whole, by their path.
        let received = Guarded<[String: [String]]>([:])
        private let state: Guarded<(current: Int, generator: SplitMix)>

        init(seed: UInt64) { state = Guarded((0, SplitMix(state: seed))) }

        var current: Int { state.withLock { $0.current } }
        func change() { state.withLock { $0.current += 1 } }

        /// Returns a random number below `limit` in one of `share` calls.
        func cut(oneIn share: UInt64, below limit: Int) -> Int? {
            state.withLock { state in
                guard share > 0, state.generator.next() % share == 0 else { return nil }
                return Int(state.generator.next() % UInt64(max(1, limit)))
            }
        }
    }

    private let versions: Versions
    let origin: ScriptedOrigin
    let size: Int

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - size: The size of each file.
    ///   - cutsOneIn: One of so many responses breaks off; 0 for none.
    ///   - seed: The seed of the random breaks.
    ///   - onRequest: Called with each request.
    /// - Throws: An error of the system if no port is free.
    init(
        size: Int,
        cutsOneIn: UInt64 = 0,
        seed: UInt64 = 1,
        onRequest: @escaping @Sendable () -> Void = {}
    ) throws {
        self.size = size
        let versions = Versions(seed: seed)
        self.versions = versions
        origin = try ScriptedOrigin(readsBodies: true) { request in
            onRequest()
            let cut = versions.cut(oneIn: cutsOneIn, below: size)
            if request.method == "PUT" {
                let digest = Digest(sha256: request.body).hexadecimal
                versions.received.withLock { $0[request.path, default: []].append(digest) }
                return cut == nil ? [.response(201)] : [.close]
            }
            return Self.steps(for: request, size: size, version: versions.current, cut: cut)
        }
    }

    var url: String { origin.url }

    /// Replaces all files by their next version.
    func changeVersion() { versions.change() }

    /// The digests of all versions that a file has had.
    func digests(of path: String) -> Set<String> {
        Set((0...versions.current).map { Digest(sha256: Self.body(of: path, version: $0, size: size)).hexadecimal })
    }

    /// The digests of the bodies that were received at a path as a whole.
    func receivedDigests(at path: String) -> [String] { versions.received.withLock { $0[path, default: []] } }

    static func body(of path: String, version: Int, size: Int) -> [UInt8] {
        var generator = SplitMix(
            state: path.utf8.reduce(UInt64(version) &* 1_000_003) { $0 &* 31 &+ UInt64($1) }
        )
        let words = (0..<size / 8).map { _ in generator.next() }
        return words.withUnsafeBytes { Array($0) }
    }

    private static func steps(
        for request: ScriptedOrigin.Request,
        size: Int,
        version: Int,
        cut: Int?
    ) -> [ScriptedOrigin.Step] {
        let body = body(of: request.path, version: version, size: size), tag = "\"\(version)\""
        let start = request.headers["range"].flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) }
        var head = "HTTP/1.1 200 OK\r\nETag: \(tag)\r\nAccept-Ranges: bytes\r\nContent-Length: \(body.count)\r\n\r\n"
        var rest = body[...]
        if let start, request.headers["if-range"] == tag, start < body.count {
            rest = body[start...]
            head =
                "HTTP/1.1 206 Partial Content\r\nETag: \(tag)\r\nContent-Range: bytes \(start)-\(body.count - 1)/"
                + "\(body.count)\r\nContent-Length: \(rest.count)\r\n\r\n"
        }
        guard let cut else { return [.send(Array(head.utf8) + rest)] }
        return [.send(Array(head.utf8) + rest.prefix(cut)), .close]
    }
}
