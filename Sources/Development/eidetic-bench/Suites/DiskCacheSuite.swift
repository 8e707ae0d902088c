import EideticCore
import EideticStore
import Glibc

extension Suite {
    /// The disk cache against bare system calls without checks.
    static let diskCache = Suite(
        "disk-cache",
        summary: "writes, reads, misses, opening and trims of the disk cache, against bare system calls",
        arguments: [
            "directory=PATH  the working directory (default: TMPDIR or /tmp)",
            "entries=COUNT  the number of entries for opening and for a trim among many (default: 100000)",
        ]
    ) { bench in
        let parent = bench.arguments["directory"] ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let root = "\(parent)/eidetic-bench-\(getpid())"
        defer { RawFiles.removeTree(root) }
        DiskCacheMeasurement(root: root).measureIndex(with: bench)
        try DiskCacheMeasurement(root: root).measureReadsAndWrites(with: bench)
        try DiskCacheMeasurement(root: root).measureTrims(with: bench)
        let entries = try bench.integer(named: "entries", default: 100_000, quick: 1_000)
        try DiskCacheMeasurement(root: root).measureOpening(with: bench, entries: entries)
        try DiskCacheMeasurement(root: root).measureTrimsAmongMany(with: bench, entries: entries)
    }
}

/// The cases, with real files.
private struct DiskCacheMeasurement {
    let root: String
    private static let count = 1_000
    private let body = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

    private func makeCache(named name: String) throws -> DiskCache {
        var configuration = DiskCache.Configuration(directory: "\(root)/\(name)")
        configuration.sizeLimit = .mebibytes(16_384)
        return try DiskCache(configuration)
    }

    /// Measures writes, reads and misses, alternating with bare system calls on the same file system.
    func measureReadsAndWrites(with bench: Bench) throws {
        let cache = try makeCache(named: "ours")
        let raw = RawFiles(root: "\(root)/raw")
        let keys = (0..<Self.count).map { "https://images01.example.org/albums/2026/IMG_\(1_000_000 + $0).jpeg" }
        var failures = 0
        bench.compareSynchronously(
            BenchmarkCase("write 20 KB", unit: .microseconds, goal: .ratio(1.25)),
            operations: Self.count,
            with: "create + write + close + rename",
            ours: { for key in keys { try? cache.blocking.insert(body, for: key) } },
            theirs: { for key in keys where !raw.write(body, for: key) { failures += 1 } }
        )
        bench.compareSynchronously(
            BenchmarkCase("read 20 KB, verified", unit: .microseconds, goal: .ratio(1.25)),
            operations: Self.count,
            with: "open + read + close",
            ours: { for key in keys { blackHole(try? cache.blocking.read(key)) } },
            theirs: { for key in keys where !raw.read(key, size: body.count) { failures += 1 } }
        )
        let missing = keys.map { $0 + "?missing" }
        bench.compareSynchronously(
            BenchmarkCase("miss", unit: .microseconds, goal: .ratio(1.3)),
            operations: Self.count,
            with: "failed open",
            ours: { for key in missing { blackHole(try? cache.blocking.read(key)) } },
            theirs: { for key in missing where raw.read(key, size: 1) { failures += 1 } }
        )
        guard failures == 0, try cache.blocking.read(keys[0])?.bytes == body else {
            throw EideticError(.fileFailure, message: "a bare system call failed")
        }
    }

    /// Measures the index's memory per entry, and the cost of choosing an entry to evict, at several sizes.
    func measureIndex(with bench: Bench) {
        for count in [10_000, 100_000, 1_000_000] {
            let before = Self.residentBytes
            var index = DiskIndex(blockSize: 4_096)
            for number in 0..<count {
                var entry = IndexEntry()
                entry.key = CacheKey(high: UInt64(number), low: UInt64(number) &* 0x9e37_79b9_7f4a_7c15)
                entry.size = UInt32(500 + number % 50_000)
                index.put(entry)
            }
            let bytes = Double(Self.residentBytes - before) / Double(count)
            if count == 1_000_000 {
                bench.report(
                    BenchmarkCase("memory of a known entry", unit: .bytes, goal: .value(48)),
                    samples: Samples(values: [bytes])
                )
            }
            let time = Self.microseconds { for _ in 0..<5_000 { blackHole(index.evict(derivedFirst: false)) } }
            let benchmark = BenchmarkCase("choosing a victim among \(count)", unit: .nanoseconds)
            bench.report(benchmark, samples: Samples(values: [time * 1_000 / 5_000]))
        }
    }

    /// The resident memory of this process, in bytes.
    private static var residentBytes: Int {
        let text =
            (try? FileSystem().contents(of: "/proc/self/statm")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * Int(getpagesize())
    }

    /// Measures removing 5,000 of 10,000 entries, against unlinking as many files.
    func measureTrims(with bench: Bench) throws {
        var ours: [Double] = []
        var theirs: [Double] = []
        for round in 0..<5 {
            let cache = try makeCache(named: "trim\(round)")
            let raw = RawFiles(root: "\(root)/trimraw\(round)")
            for index in 0..<10_000 {
                try cache.blocking.insert(body, for: "\(index)")
                _ = raw.write(body, for: "\(index)")
            }
            defer {
                RawFiles.removeTree("\(root)/trim\(round)")
                RawFiles.removeTree("\(root)/trimraw\(round)")
            }
            let half = ByteCount(cache.blocking.usage.allocatedSize.bytes / 2)
            ours.append(try Self.microseconds { blackHole(try cache.blocking.trim(toSize: half)) } / 5_000)
            theirs.append(Self.microseconds { for index in 0..<5_000 { raw.unlink("\(index)") } } / 5_000)
            guard cache.blocking.usage.entryCount == 5_000 else {
                throw EideticError(.fileFailure, message: "trim: \(cache.blocking.usage)")
            }
        }
        bench.report(
            BenchmarkCase("trim 5,000 of 10,000", unit: .microseconds, goal: .ratio(1.3)),
            samples: Samples(values: ours),
            baseline: ("unlink", Samples(values: theirs))
        )
    }

    /// Measures opening a cache with many entries and reading one, which must not scan the directory.
    func measureOpening(with bench: Bench, entries: Int) throws {
        let first = try makeCache(named: "many")
        let raw = RawFiles(root: first.configuration.directory, suffix: ".raw")
        for index in 0..<entries {
            try first.blocking.insert([1, 2, 3], for: Self.key(at: index))
            // Files for `measureTrimsAmongMany`, in the directories of the entries that it removes.
            if index < Self.entriesPerTrim * Self.trimCount { _ = raw.write([1, 2, 3], for: Self.key(at: index)) }
        }
        var times: [Double] = []
        var counts: [Double] = []
        var scans = 0
        for round in 0..<15 {
            let counter = SystemCallCounter()
            times.append(
                try Self.microseconds {
                    let cache = try DiskCache(first.configuration, fileSystem: FileSystem(observer: counter))
                    guard try cache.blocking.read(Self.key(at: round)) != nil else {
                        throw EideticError(.cacheMiss, message: "\(round)")
                    }
                } / 1_000
            )
            counts.append(Double(counter.count))
            scans += counter.directoryReads
        }
        guard scans == 0 else { throw EideticError(.fileFailure, message: "opening scanned a directory") }
        bench.report(
            BenchmarkCase("open \(entries) entries, first get", unit: .milliseconds, goal: .value(5)),
            samples: Samples(values: times)
        )
        bench.report(BenchmarkCase("system calls of that", unit: .count), samples: Samples(values: counts))
    }

    private static let entriesPerTrim = 5_000
    private static let trimCount = 9

    /// Returns a key; all keys have one length, so that all entries have the same cost and the oldest are evicted
    /// first.
    private static func key(at index: Int) -> String { "\(10_000_000 + index)" }

    /// Measures removing 5,000 of the entries that `measureOpening` has written, against unlinking as many files.
    ///
    /// The cost of an entry must not depend on the number of remaining entries.
    func measureTrimsAmongMany(with bench: Bench, entries: Int) throws {
        guard entries >= 2 * Self.entriesPerTrim * Self.trimCount else { return }
        let counter = SystemCallCounter()
        let configuration = try makeCache(named: "many").configuration
        let cache = try DiskCache(configuration, fileSystem: FileSystem(observer: counter))
        let raw = RawFiles(root: configuration.directory, suffix: ".raw")
        var (ours, theirs, calls): ([Double], [Double], [Double]) = ([], [], [])
        for round in 0..<Self.trimCount {
            let usage = cache.blocking.usage
            let size = ByteCount(
                usage.allocatedSize.bytes / usage.entryCount * (usage.entryCount - Self.entriesPerTrim)
            )
            let before = counter.count
            ours.append(
                try Self.microseconds { blackHole(try cache.blocking.trim(toSize: size)) } / Double(Self.entriesPerTrim)
            )
            calls.append(Double(counter.count - before) / Double(Self.entriesPerTrim))
            let range = (round * Self.entriesPerTrim)..<((round + 1) * Self.entriesPerTrim)
            let time = Self.microseconds { for index in range { raw.unlink(Self.key(at: index)) } }
            theirs.append(time / Double(Self.entriesPerTrim))
            let remaining = cache.blocking.usage.entryCount
            guard remaining == usage.entryCount - Self.entriesPerTrim else {
                throw EideticError(.fileFailure, message: "\(remaining) are left")
            }
        }
        bench.report(
            BenchmarkCase("trim 5,000 of \(entries)", unit: .microseconds, goal: .ratio(1.3)),
            samples: Samples(values: ours),
            baseline: ("unlink", Samples(values: theirs))
        )
        bench.report(BenchmarkCase("system calls of that, an entry", unit: .count), samples: Samples(values: calls))
    }

    private static func microseconds(_ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try body()
        return (clock.now - start).inSeconds * 1e6
    }
}

extension Bench {
    /// Compares two synchronous functions, like `compare`.
    fileprivate func compareSynchronously(
        _ benchmark: BenchmarkCase,
        operations: Int,
        with baseline: String,
        ours: () -> Void,
        theirs: () -> Void
    ) {
        var samples: (ours: [Double], theirs: [Double]) = ([], [])
        let clock = ContinuousClock()
        ours()
        theirs()
        for _ in 0..<sampleCount(9) {
            samples.ours.append(benchmark.unit.value(seconds: clock.measure(ours).inSeconds / Double(operations)))
            samples.theirs.append(benchmark.unit.value(seconds: clock.measure(theirs).inSeconds / Double(operations)))
        }
        report(benchmark, samples: Samples(values: samples.ours), baseline: (baseline, Samples(values: samples.theirs)))
    }
}
