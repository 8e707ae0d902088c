import Eidetic
import EideticCodecs
import EideticCore
import EideticFetch
import EideticStore
import EideticTestSupport
import Glibc

extension DiskCache.Blocking {
    /// The number of derived entries, and the space that they use on the device.
    fileprivate func derivedUsage() throws(EideticError) -> (count: Int, bytes: Int) {
        let entries = try entries().filter { $0.metadata.kind == .derived }
        return (entries.count, entries.reduce(0) { $0 + $1.allocatedSize.bytes })
    }
}

extension Suite {
    /// Complete loads of many photographs: network, disk, decoding.
    static let load = Suite(
        "load",
        summary: "photographs of two megapixels to 400 pixels, against each stage alone and curl with vipsthumbnail",
        arguments: ["count=500  the number of photographs", "rounds=3  the number of samples"]
    ) { bench in
        let measurement = try await LoadMeasurement(
            photographs: Photographs(count: try bench.integer(named: "count", default: 500, quick: 12)),
            rounds: try bench.integer(named: "rounds", default: 3, quick: 1)
        )
        try await measurement.run(with: bench)
    }
}

/// The same photographs loaded in several ways, in alternation.
private struct LoadMeasurement {
    private let photographs: Photographs
    private let rounds: Int
    private let server: Nginx
    private let urls: [String]
    private let bodies: [[UInt8]]
    private let workDirectory: TemporaryDirectory
    private let cores = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    private let pool: WorkPool

    init(photographs: Photographs, rounds: Int) async throws {
        self.photographs = photographs
        self.rounds = rounds
        let server = try await Nginx(.init(server: "access_log off; location /p/ { alias \(photographs.directory)/; }"))
        self.server = server
        urls = photographs.names.map { "\(server.url)/p/\($0)" }
        let directory = photographs.directory
        bodies = try photographs.names.map { try FileSystem().contents(of: "\(directory)/\($0)") }
        workDirectory = try TemporaryDirectory(named: "load")
        pool = WorkPool(name: "bench", maximumThreadCount: cores)
    }

    /// Wall times, and the processor time of cold loads in this process and the server, in milliseconds.
    private struct Times {
        var cold: [Double] = []
        var processor: [Double] = []
        var warm: [Double] = []
        var coldWithDerived: [Double] = []
        var second: [Double] = []
        var download: [Double] = []
        var decode: [Double] = []
        var curl: [Double] = []
        var read: [Double] = []
        var single: [Double] = []
        var batched: [Double] = []
    }

    func run(with bench: Bench) async throws {
        var times = Times()
        var usage = (count: 0, bytes: 0)
        let hasVips =
            Subprocess.executablePath(for: "vipsthumbnail") != nil && Subprocess.executablePath(for: "curl") != nil
        // Nothing is deleted until the end: while many files were deleted recently, ext4 searches long for an inode.
        for round in 0..<rounds {
            let cache = workDirectory.path(of: "cache\(round)")
            let before = processorTime()
            times.cold.append(try await milliseconds { try await load(cacheDirectory: cache) })
            times.processor.append((processorTime() - before) / Double(cores))
            times.warm.append(try await milliseconds { try await load(cacheDirectory: cache) })
            times.download.append(try await milliseconds { try await download() })
            times.decode.append(try await milliseconds { try await decode() })
            times.read.append(try await milliseconds { try await readAndDecode() })
            let derived = workDirectory.path(of: "derived\(round)")
            times.coldWithDerived.append(try await milliseconds(loading: .automatic, into: derived))
            times.second.append(try await milliseconds(loading: .automatic, into: derived))
            usage = try DiskCache(DiskCache.Configuration(directory: derived)).blocking.derivedUsage()
            guard hasVips else { continue }
            times.curl.append(try await milliseconds { try await runCurl(to: "curl\(round)") })
            times.single.append(try await milliseconds { try await runCurl(to: "single\(round)", thenVipsOf: 1) })
            let batch = (urls.count + cores - 1) / cores
            times.batched.append(try await milliseconds { try await runCurl(to: "batch\(round)", thenVipsOf: batch) })
        }
        report(times, with: bench)
        reportDerived(times, usage: usage, with: bench)
    }

    private func reportDerived(_ times: Times, usage: (count: Int, bytes: Int), with bench: Bench) {
        bench.report(
            BenchmarkCase("\(urls.count) photographs, a second time", unit: .milliseconds, goal: .ratio(0.2)),
            samples: Samples(values: times.second),
            baseline: ("read and decode of the originals", Samples(values: times.read))
        )
        let cold = "\(urls.count) photographs, cold, with derived images"
        bench.report(
            BenchmarkCase(cold, unit: .milliseconds, goal: .ratio(1.05)),
            samples: Samples(values: times.coldWithDerived),
            baseline: ("without", Samples(values: times.cold))
        )
        bench.report(
            BenchmarkCase("disk space of \(usage.count) derived images", unit: .bytes),
            samples: Samples(values: [Double(usage.bytes)])
        )
    }

    private func report(_ times: Times, with bench: Bench) {
        func samples(_ values: [Double]) -> Samples { Samples(values: values) }
        let cold = samples(times.cold)
        let parts = [
            ("download alone", samples(times.download)), ("decode alone", samples(times.decode)),
            ("total processor time by cores", samples(times.processor)),
        ]
        let longest = parts.max { $0.1.median < $1.1.median } ?? parts[0]
        let coldLoad = BenchmarkCase("\(urls.count) photographs, cold", unit: .milliseconds, goal: .ratio(1.15))
        bench.report(coldLoad, samples: cold, baseline: longest)
        for part in parts { bench.report(BenchmarkCase("cold, \(part.0)", unit: .milliseconds), samples: part.1) }
        bench.report(
            BenchmarkCase("\(urls.count) photographs, from disk", unit: .milliseconds, goal: .ratio(1.1)),
            samples: samples(times.warm),
            baseline: ("read and decode alone", samples(times.read))
        )
        guard !times.single.isEmpty else { return }
        for (name, values, goal) in [
            ("curl -Z, then decode alone", zip(times.curl, times.decode).map(+), 1),
            ("curl -Z, then a vipsthumbnail each", times.single, 1 / 2.0),
            ("curl -Z, then a vipsthumbnail a core", times.batched, 1 / 1.1),
        ] {
            let benchmark = BenchmarkCase(
                "\(urls.count) photographs, cold, against \(name)",
                unit: .milliseconds,
                goal: .ratio(goal)
            )
            bench.report(benchmark, samples: cold, baseline: (name, samples(values)))
        }
    }

    /// Loads all photographs through a pipeline with a disk cache in `directory`.
    private func load(cacheDirectory directory: String) async throws {
        try await load(by: try makePipeline(.originals, in: directory))
    }

    /// Returns the time of a load of all photographs; the derived images are written afterwards.
    private func milliseconds(
        loading policy: ImagePipeline.Configuration.DerivedImages.Policy,
        into directory: String
    ) async throws -> Double {
        var pipeline: ImagePipeline?
        let time = try await milliseconds {
            let new = try makePipeline(policy, in: directory)
            pipeline = new
            try await load(by: new)
        }
        await pipeline?.finishWrites()
        return time
    }

    private func makePipeline(
        _ policy: ImagePipeline.Configuration.DerivedImages.Policy,
        in directory: String
    ) throws -> ImagePipeline {
        var configuration = ImagePipeline.Configuration()
        configuration.diskCache = try DiskCache(DiskCache.Configuration(directory: directory))
        configuration.derivedImages.policy = policy
        return ImagePipeline(configuration)
    }

    private func load(by pipeline: ImagePipeline) async throws {
        let size = PixelSize(width: 400, height: 400)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for url in urls {
                let request = ImageRequest(url, size: size, cachePolicy: .afterStorage)
                group.addTask { blackHole(try await pipeline.image(for: request).size) }
            }
            try await group.waitForAll()
        }
    }

    private func download() async throws {
        let downloader = Downloader(ImagePipeline.Configuration().downloads)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for url in urls {
                let request = try FetchRequest(url: url)
                group.addTask { blackHole(try await downloader.fetch(request).bytes.count) }
            }
            try await group.waitForAll()
        }
    }

    private func decode() async throws {
        try await decodeOnAllCores { index throws(EideticError) in bodies[index] }
    }

    private func readAndDecode() async throws {
        let directory = photographs.directory
        let names = photographs.names
        try await decodeOnAllCores { index throws(EideticError) in
            do throws(SystemError) {
                return try FileSystem().contents(of: "\(directory)/\(names[index])")
            } catch {
                throw EideticError(error)
            }
        }
    }

    private func decodeOnAllCores(_ bytes: @escaping @Sendable (Int) throws(EideticError) -> [UInt8]) async throws {
        var options = DecodeOptions()
        options.size = PixelSize(width: 400, height: 400)
        let decodeOptions = options
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in urls.indices {
                group.addTask {
                    try await pool.run { _ throws(EideticError) in
                        blackHole(try ImageDecoder.decode(try bytes(index), options: decodeOptions).size)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Downloads everything with curl, then runs `vipsthumbnail` on batches of files, if any, one process a core.
    private func runCurl(to name: String, thenVipsOf batch: Int? = nil) async throws {
        let outputDirectory = workDirectory.path(of: name)
        let vips = "VIPS_CONCURRENCY=1 xargs -P \(cores) -n \(batch ?? 1) vipsthumbnail --size 400x400 -o small_%s.jpg"
        let script = """
            set -e
            mkdir "$1"; cd "$1"
            curl -s -S -Z --parallel-max 6 --remote-name-all -K -
            \(batch == nil ? "" : "ls *.jpg | " + vips)
            """
        let input = urls.map { "url = \"\($0)\"\n" }.joined()
        let result = try await Subprocess.run(
            "sh",
            arguments: ["-c", script, "sh", outputDirectory],
            input: Array(input.utf8)
        )
        guard result.status == .exited(0) else {
            throw EideticError(.badResponse, message: "curl and vipsthumbnail failed: \(result.errorText.prefix(300))")
        }
    }

    private func milliseconds(_ body: () async throws -> Void) async rethrows -> Double {
        try await Bench.seconds(body) * 1e3
    }

    /// Returns the processor time of this process and the server, which share the processors, in milliseconds.
    private func processorTime() -> Double { processorTime(of: getpid()) + processorTime(of: server.identifier) }

    private func processorTime(of process: pid_t) -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }
}
