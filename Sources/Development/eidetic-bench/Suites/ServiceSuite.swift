import EideticCore
import EideticTestSupport
import Glibc

extension Suite {
    /// The example ImageService against a service in Python with libvips.
    static let service = Suite(
        "service",
        summary: "the example ImageService, photographs to 400 pixels over four connections, against pyvips",
        arguments: [
            "count=200  the number of photographs", "rounds=3  the number of samples",
            "python=PROGRAM  an interpreter that has pyvips (default: python3)",
        ]
    ) { bench in
        let run = try await ServiceRun(
            photographs: Photographs(count: try bench.integer(named: "count", default: 200, quick: 8)),
            python: bench.arguments["python"] ?? "python3"
        )
        try await run.measure(with: bench, rounds: try bench.integer(named: "rounds", default: 3, quick: 1))
    }
}

/// The same requests to both services, in alternation.
private struct ServiceRun {
    /// Wall times in milliseconds, and the memory of a service with its decoding processes in bytes.
    private struct Series {
        var cold: [Double] = [], again: [Double] = [], memory: [Double] = []
    }

    private static let connections = 4
    private let photographs: Photographs
    private let python: String
    private let server: Nginx
    private let directory: TemporaryDirectory

    init(photographs: Photographs, python: String) async throws {
        self.photographs = photographs
        self.python = python
        server = try await Nginx(
            .init(
                server: """
                    access_log off; add_header Cache-Control max-age=3600;
                    location /p/ { alias \(photographs.directory)/; }
                    """
            )
        )
        directory = try TemporaryDirectory(named: "service")
    }

    func measure(with bench: Bench, rounds: Int) async throws {
        var ours = Series(), theirs = Series()
        let hasVips = try await Subprocess.run(python, arguments: ["-c", "import pyvips"]).status == .exited(0)
        if !hasVips {
            printError("service: without a baseline: \(python) has no pyvips (pip install 'pyvips[binary]')")
        }
        for round in 0..<rounds {
            let program = try MeasuredProcess.path(ofProgramBesideThis: "ImageService")
            try await measure([program, "0", "--allow-private"], round: round, into: &ours)
            if hasVips { try await measure([python, "-c", Self.program], round: round, into: &theirs) }
        }
        let count = photographs.names.count, name = "service: \(count) photographs"
        for (title, unit, goal, part) in [
            ("each once", BenchmarkCase.Unit.milliseconds, BenchmarkCase.Goal.ratio(0.6), \Series.cold),
            ("again", .milliseconds, .ratio(0.6), \.again),
            ("peak memory with decoding processes", .bytes, .value(Double(128 << 20)), \.memory),
        ] {
            bench.report(
                BenchmarkCase("\(name), \(title)", unit: unit, goal: hasVips || unit == .bytes ? goal : nil),
                samples: .init(values: ours[keyPath: part]),
                baseline: hasVips ? ("pyvips", .init(values: theirs[keyPath: part])) : nil
            )
        }
    }

    /// Starts a service, which prints its port, with an empty cache, and requests all images twice.
    private func measure(_ command: [String], round: Int, into series: inout Series) async throws {
        let service = try Subprocess(
            command[0],
            arguments: Array(command.dropFirst()),
            environment: ["XDG_CACHE_HOME": directory.path(of: "cache\(round)"), "CACHE_DIRECTORY": nil]
        )
        guard await service.waitForOutput("\n"),
            let port = service.outputSoFar.split(whereSeparator: \.isWhitespace).last
        else { throw EideticError(.refused, message: "\(command[0]) did not start: \(service.errorsSoFar)") }
        series.cold.append(try await milliseconds { try await requestAll(fromPort: port) })
        series.again.append(try await milliseconds { try await requestAll(fromPort: port) })
        series.memory.append(Double(try peakMemory(of: service.identifier)))
        service.kill(SIGTERM)
        _ = await service.waitUntilExit()
    }

    private func requestAll(fromPort port: Substring) async throws {
        let list = photographs.names.map { name in
            let query = "w=400&h=400&format=jpeg&url=\(server.url)/p/\(name)"
            return "url = \"http://127.0.0.1:\(port)/resize?\(query)\"\noutput = \"/dev/null\"\n"
        }
        let words = ["-s", "-S", "-f", "-g", "-Z", "--parallel-max", "\(Self.connections)", "-K", "-"]
        let result = try await Subprocess.run("curl", arguments: words, input: Array(list.joined().utf8))
        guard result.status == .exited(0) else {
            throw EideticError(.badResponse, message: "the service failed: \(result.errorText.prefix(300))")
        }
    }

    /// Returns the largest resident memory of a process and of its children.
    private func peakMemory(of process: pid_t) throws -> Int {
        let files = FileSystem()
        let lists = try files.entryNames(in: "/proc/\(process)/task").map { thread in
            // A thread may have ended meanwhile.
            (try? files.contents(of: "/proc/\(process)/task/\(thread)/children")) ?? []
        }
        let numbers = lists.flatMap { $0.split(separator: 32) }
        let children = numbers.compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
        return try ([process] + children).reduce(0) { sum, process in
            let status = String(decoding: try files.contents(of: "/proc/\(process)/status"), as: UTF8.self)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
            return sum + (kibibytes.flatMap { Int($0) } ?? 0) << 10
        }
    }

    private func milliseconds(_ body: () async throws -> Void) async rethrows -> Double {
        try await Bench.seconds(body) * 1e3
    }

    /// A service that downloads and scales each time, as the documentation of pyvips shows it.
    private static let program = """
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        from urllib.parse import parse_qs, urlparse
        from urllib.request import urlopen
        import pyvips

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *words): pass

            def do_GET(self):
                query = parse_qs(urlparse(self.path).query)
                with urlopen(query["url"][0]) as response: source = response.read()
                image = pyvips.Image.thumbnail_buffer(source, int(query["w"][0]), height=int(query["h"][0]))
                body = image.jpegsave_buffer(Q=80)
                self.send_response(200)
                self.send_header("Content-Type", "image/jpeg")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print("listening on port", server.server_address[1], flush=True)
        server.serve_forever()
        """
}
