import EideticCore
import EideticFetch
import EideticTestSupport
import Glibc

extension Suite {
    /// The downloader against the fastest client there is for many small files.
    static let fetch = Suite(
        "fetch",
        "many files from nginx on this machine, against curl -Z",
        arguments: [
            "files=2000  how many files", "parallel=32  how many at once", "rounds=5  how many samples",
            "tls=1  0 leaves HTTPS with HTTP/2 out",
            "files-out=1  0 keeps bodies in memory here, and lets curl throw them away",
        ]
    ) { bench in
        let count = try bench.number("files", default: 2_000)
        let parallel = try bench.number("parallel", default: 32)
        let rounds = try bench.number("rounds", default: 5)
        let server = try await Nginx(.init(server: "access_log off;", usesTLS: true))
        let names = try FetchRun.putFiles(count, on: server)
        let sink = try bench.number("files-out", default: 1) != 0 ? try FetchSink() : nil
        var runs = [FetchRun(server.url, names, parallel, nil, sink, title: "HTTP/1.1")]
        if try bench.number("tls", default: 1) != 0, let url = server.secureURL {
            runs.append(FetchRun(url, names, parallel, server.authorityFile, sink, title: "HTTP/2 over TLS, verified"))
        }
        for run in runs { try await run.measure(bench, rounds: rounds) }
        try await FetchRun.measureOne(bench, server)
    }
}

/// One way to load all files.
private struct FetchRun {
    let title: String
    let urls: [String]
    let parallel: Int
    let caFile: String?
    let sink: FetchSink?

    init(
        _ base: String,
        _ names: [String],
        _ parallel: Int,
        _ caFile: String?,
        _ sink: FetchSink?,
        title: String
    ) {
        self.title = title
        urls = names.map { "\(base)/\($0)" }
        self.parallel = parallel
        self.caFile = caFile
        self.sink = sink
    }

    /// Files of 20 to 200 KB that begin as a PNG does.
    static func putFiles(_ count: Int, on server: Nginx) throws -> [String] {
        var random: UInt64 = 88_172_645_463_325_252
        return try (0..<count).map { index in
            var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            let size = 20_000 + 180_000 * index / count
            bytes.reserveCapacity(size + 8)
            while bytes.count < size {
                random ^= random << 13
                random ^= random >> 7
                random ^= random << 17
                withUnsafeBytes(of: random) { bytes.append(contentsOf: $0) }
            }
            try server.put(bytes, at: "\(index).png")
            return "\(index).png"
        }
    }

    /// Wall and CPU time of whole runs, ours and curl's in turn.
    func measure(_ bench: Bench, rounds: Int) async throws {
        var ours = (wall: [Double](), cpu: [Double]())
        var theirs = (wall: [Double](), cpu: [Double]())
        var peaks: [Double] = []
        for round in 0...rounds {
            MemoryPeak.reset()
            let mine = try await Self.cost(Int32(RUSAGE_SELF.rawValue)) { try await loadAll() }
            let peak = MemoryPeak.bytes
            let curls = try await Self.cost(Int32(RUSAGE_CHILDREN.rawValue)) { try await runCurl() }
            // The first round warms the files and the name service up.
            guard round > 0 else { continue }
            ours.wall.append(mine.wall)
            ours.cpu.append(mine.cpu)
            theirs.wall.append(curls.wall)
            theirs.cpu.append(curls.cpu)
            if let peak { peaks.append(Double(peak)) }
        }
        let goal = Case.Goal.ratio(caFile == nil ? 1.1 : 1.05)
        for (name, mine, others) in [("wall", ours.wall, theirs.wall), ("CPU", ours.cpu, theirs.cpu)] {
            bench.report(
                Case("\(urls.count) files, \(title), \(name)", .milliseconds, goal: goal),
                Samples(values: mine),
                baseline: ("curl -Z --parallel-max \(parallel)", Samples(values: others))
            )
        }
        if peaks.isEmpty { return }
        let kase = Case(
            "\(urls.count) files, \(title), peak memory of the process",
            .bytes,
            goal: .value(40 * 1_048_576)
        )
        bench.report(kase, Samples(values: peaks))
    }

    private func loadAll() async throws {
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = parallel
        configuration.caFile = caFile
        let downloader = Downloader(configuration)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for (index, url) in urls.enumerated() {
                let request = try FetchRequest(url: url)
                group.addTask {
                    let bytes = try await downloader.fetch(request).bytes
                    try sink?.write(bytes, name: "\(index)")
                    return bytes.count
                }
            }
            try await group.waitForAll()
        }
    }

    private func runCurl() async throws {
        let lines = urls.enumerated().map { index, url in
            "url = \"\(url)\"\noutput = \"\(sink?.path("\(index)") ?? "/dev/null")\"\n"
        }.joined()
        let security = caFile.map { ["--cacert", $0] } ?? []
        let arguments = ["-s", "-S", "-Z", "--parallel-max", "\(parallel)", "-K", "-"] + security
        let result = try await Subprocess.run("curl", arguments, input: Array(lines.utf8))
        guard result.status == .exited(0) else {
            throw EideticError(.badResponse, "curl failed: \(result.errorText.prefix(300))")
        }
    }

    /// What a piece of work takes, in milliseconds.
    private static func cost(
        _ who: Int32,
        _ body: () async throws -> Void
    ) async throws -> (wall: Double, cpu: Double) {
        let before = processorTime(who)
        let wall = try await Bench.seconds(body)
        return (wall * 1e3, (processorTime(who) - before) * 1e3)
    }

    private static func processorTime(_ who: Int32) -> Double {
        var usage = rusage()
        getrusage(who, &usage)
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        return Double(seconds) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    /// One file of 175 KB over a connection that is open.
    static func measureOne(_ bench: Bench, _ server: Nginx) async throws {
        var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        bytes += [UInt8](repeating: 7, count: 175_000 - bytes.count)
        let request = try FetchRequest(url: try server.put(bytes, at: "one.png"))
        let downloader = Downloader()
        try await bench.measure(
            Case("one warm GET of 175 KB", .milliseconds, goal: .value(0.2)),
            operations: 100,
            samples: 11
        ) {
            for _ in 0..<100 { use(try await downloader.fetch(request).bytes.count) }
        }
    }
}
