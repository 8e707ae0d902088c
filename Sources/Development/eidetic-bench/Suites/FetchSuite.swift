import EideticCodecs
import EideticCore
import EideticFetch
import EideticTestSupport
import Glibc

extension Suite {
    /// The command `eidetic load --out` against `curl -Z`, the fastest client for many small files.
    static let fetch = Suite(
        "fetch",
        summary:
            "many images from a local nginx to files in memory by eidetic load --out, against curl -Z",
        arguments: [
            "files=2000  the number of files", "parallel=32  the number of concurrent downloads",
            "rounds=21  the number of samples",
            "tls=1  0 skips HTTPS with HTTP/2",
        ]
    ) { bench in
        let count = try bench.integer(named: "files", default: 2_000, quick: 100)
        let parallel = try bench.integer(named: "parallel", default: 32)
        let rounds = try bench.integer(named: "rounds", default: 21, quick: 1)
        let server = try await Nginx(.init(server: "access_log off;", usesTLS: true))
        let names = try FetchRun.addFiles(count: count, to: server)
        var runs = [
            try FetchRun(
                baseURL: server.url,
                names: names,
                parallel: parallel,
                certificateAuthorityFile: nil,
                title: "HTTP/1.1"
            )
        ]
        if try bench.integer(named: "tls", default: 1) != 0, let url = server.secureURL {
            runs.append(
                try FetchRun(
                    baseURL: url,
                    names: names,
                    parallel: parallel,
                    certificateAuthorityFile: server.authorityFile,
                    title: "HTTP/2 over TLS, verified"
                )
            )
        }
        for run in runs { try await run.measure(with: bench, rounds: rounds) }
        try await FetchRun.measureWarmRequest(with: bench, server: server)
        try await FetchRun.measureHandles(with: bench)
    }
}

/// The comparison over one protocol.
private struct FetchRun {
    /// A program that loads the files, and the list of files on its standard input.
    struct Client {
        let name: String
        let command: [String]
        let list: [UInt8]
        var costs: [Cost] = []

        func samples(of part: KeyPath<Cost, Double>) -> Samples { Samples(values: costs.map { $0[keyPath: part] }) }
    }

    /// The cost of a run: times in milliseconds, memory in bytes.
    struct Cost {
        var (wall, processor, memory) = (0.0, 0.0, 0.0)
    }

    private let title: String
    private let names: [String]
    private let outputDirectory: TemporaryDirectory
    private let cacheDirectory: TemporaryDirectory
    private var clients: [Client]

    init(baseURL: String, names: [String], parallel: Int, certificateAuthorityFile: String?, title: String)
        throws
    {
        let outputDirectory = try TemporaryDirectory(named: "bench", in: "/dev/shm")
        let cacheDirectory = try TemporaryDirectory(named: "bench-cache", in: "/dev/shm")
        let pairs = names.map { ("\(baseURL)/\($0)", outputDirectory.path(of: $0)) }
        let lines = Array(pairs.map { "\($0.0)\n" }.joined().utf8)
        let settings = Array(pairs.map { "url = \"\($0)\"\noutput = \"\($1)\"\n" }.joined().utf8)
        // One host has two thirds of the concurrent downloads.
        let load =
            [
                try MeasuredProcess.path(ofProgramBesideThis: "eidetic"), "load", "--json", "--cache-dir",
                cacheDirectory.path(of: "cache"), "--out", outputDirectory.path, "--overwrite", "--jobs",
                "\(min(64, (3 * parallel + 1) / 2))",
            ] + (certificateAuthorityFile.map { ["--cacert", $0] } ?? [])
        let curl = ["curl", "-s", "-S", "-Z", "--parallel-max", "\(parallel)", "-K", "-"]
        clients = [
            Client(name: "eidetic load", command: load + ["-"], list: lines),
            Client(name: "eidetic load --no-store", command: load + ["--no-store", "-"], list: lines),
            Client(
                name: "curl -Z",
                command: curl + (certificateAuthorityFile.map { ["--cacert", $0] } ?? []),
                list: settings
            ),
        ]
        self.outputDirectory = outputDirectory
        self.cacheDirectory = cacheDirectory
        self.title = title
        self.names = names
    }

    /// Adds files of 20 to 200 KB, and returns their names: a small PNG, and bytes that decoders ignore.
    static func addFiles(count: Int, to server: Nginx) throws -> [String] {
        var random = SplitMix(state: 1)
        let size = PixelSize(width: 32, height: 32)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, _ in
            for index in pixels.indices { pixels[index] = index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: index) }
        }
        let image = Image(frames: [.init(pixels: pixels)], format: .png, sourceSize: size)
        let png = try ImageEncoder.encode(image, as: .png)
        return try (0..<count).map { index in
            let size = 20_000 + 180_000 * index / count
            try server.addFile(png + random.bytes(size - png.count), at: "\(index).png")
            return "\(index).png"
        }
    }

    /// Measures wall time, processor time and memory of whole runs, alternating between the clients.
    func measure(with bench: Bench, rounds: Int) async throws {
        var clients = clients
        for round in 0...rounds {
            // The order alternates, since the first client of a round meets other conditions than the last one.
            for index in round.isMultiple(of: 2) ? Array(clients.indices) : clients.indices.reversed() {
                let cost = try await cost(of: clients[index])
                // The first round only warms up the file cache and the name service.
                if round > 0 { clients[index].costs.append(cost) }
            }
        }
        let curl = clients[2]
        for client in clients.dropLast() {
            let name = "\(names.count) files, \(title), \(client.name)"
            for (metric, part) in [("wall", \Cost.wall), ("CPU", \Cost.processor)] {
                bench.report(
                    BenchmarkCase("\(name), \(metric)", unit: .milliseconds),
                    samples: client.samples(of: part),
                    baseline: (curl.name, curl.samples(of: part))
                )
            }
            bench.report(
                BenchmarkCase("\(name), peak memory", unit: .bytes),
                samples: client.samples(of: \.memory),
                baseline: (curl.name, curl.samples(of: \.memory))
            )
        }
    }

    /// Runs a client with empty directories, so that it neither overwrites files nor finds them in the cache.
    ///
    /// The client runs below `time`, since Linux adds the memory of the starting process to that of the started one.
    private func cost(of client: Client) async throws -> Cost {
        for name in names { try? FileSystem().unlink(outputDirectory.path(of: name)) }
        _ = try await Subprocess.run("rm", arguments: ["-rf", cacheDirectory.path(of: "cache")])
        let before = Self.processorTime()
        var cost = Cost()
        cost.wall =
            1e3
            * (try await Bench.seconds {
                let arguments = ["-f", "%M", "-o", outputDirectory.path(of: "memory")] + client.command
                let result = try await Subprocess.run("time", arguments: arguments, input: client.list)
                guard result.status == .exited(0) else {
                    throw EideticError(.badResponse, message: "\(client.name) failed: \(result.errorText.prefix(300))")
                }
            })
        cost.processor = 1e3 * (Self.processorTime() - before)
        let text = String(decoding: try outputDirectory.contents(of: "memory"), as: UTF8.self)
        cost.memory = 1_024 * (Double(text.filter(\.isNumber)) ?? .nan)
        return cost
    }

    /// Returns the processor time of all child processes that have ended, in seconds.
    private static func processorTime() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        return Double(seconds) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    /// Measures what it costs that each exchange gets a handle of its own.
    static func measureHandles(with bench: Bench) async throws {
        let configuration = CurlConfiguration(userAgent: "eidetic-bench")
        try await bench.measure(
            BenchmarkCase("new handle, and its common options", unit: .microseconds, goal: .value(5)),
            operations: 10_000,
            samples: 11
        ) {
            for _ in 0..<10_000 {
                guard let handle = EasyHandle() else { throw EideticError(.outOfMemory, message: "no handle") }
                configuration.apply(to: handle, host: "localhost")
            }
        }
    }

    /// Measures requests for one file of 175 KB over an open connection.
    static func measureWarmRequest(with bench: Bench, server: Nginx) async throws {
        var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        bytes += [UInt8](repeating: 7, count: 175_000 - bytes.count)
        let request = try FetchRequest(url: try server.addFile(bytes, at: "one.png"))
        let downloader = Downloader()
        try await bench.measure(
            BenchmarkCase("one warm GET of 175 KB", unit: .milliseconds, goal: .value(0.2)),
            operations: 100,
            samples: 11
        ) {
            for _ in 0..<100 { blackHole(try await downloader.fetch(request).bytes.count) }
        }
    }
}
