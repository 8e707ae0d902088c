import EideticCore
import EideticTestSupport
import Glibc

extension Suite {
    /// The resident memory of a process that loads many more images than its memory cache holds.
    static let memory = Suite(
        "memory",
        summary: "resident memory after thousands of thumbnails, against the limit of the memory cache",
        arguments: [
            "images=10000  the number of images of each round", "rounds=3  the number of rounds in one process",
        ]
    ) { bench in
        let measurement = try ResidentMemoryMeasurement(
            imageCount: bench.integer(named: "images", default: 10_000, quick: 200),
            rounds: bench.integer(named: "rounds", default: 3, quick: 1)
        )
        try await measurement.run(with: bench)
    }
}

/// A server of thumbnails: JPEGs of different sizes, decoded to different sizes by several tasks.
///
/// It is a process of its own, which has nothing but Eidetic: this one also has the libraries of its baselines.
private struct ResidentMemoryMeasurement {
    /// The resident memory that a process may have beside its cache: the program itself, and images being decoded.
    private static let overhead = ByteCount.mebibytes(40)

    /// The number of limits that the process measures in each round.
    private static let limitCount = 3

    private let imageCount: Int
    private let rounds: Int
    private let directory: TemporaryDirectory

    init(imageCount: Int, rounds: Int) throws {
        self.imageCount = imageCount
        self.rounds = rounds
        directory = try TemporaryDirectory(named: "memory")
        for number in 0..<12 {
            let size = PixelSize(width: 500 + 40 * number, height: 400 + 30 * number)
            _ = try directory.write(try SyntheticPhotograph.jpeg(size: size), to: "\(10 + number).jpg")
        }
    }

    /// Reports the resident memory before the first image, and after each round with each limit.
    func run(with bench: Bench) async throws {
        let probe = try Subprocess(
            MeasuredProcess.path(ofProgramBesideThis: "eidetic-probe"),
            arguments: ["memory", "\(imageCount)", "\(rounds)", directory.path]
        )
        for line in 0...Self.limitCount * rounds {
            guard await probe.waitForOutput("\n", times: line + 1, limit: .seconds(3_600)) else {
                throw UsageError(message: "eidetic-probe ended: \(probe.errorsSoFar)")
            }
            report(probe.outputSoFar.split(separator: "\n")[line], with: bench)
        }
        _ = await probe.waitUntilExit()
    }

    private func report(_ line: Substring, with bench: Bench) {
        let fields = line.split(separator: " ").compactMap { Double($0) }
        guard fields.count == 4 else {
            let benchmark = BenchmarkCase("resident, before the first image", unit: .bytes)
            return bench.report(benchmark, samples: Samples(values: fields))
        }
        let size = "limit \(Int(fields[0])) MiB, round \(Int(fields[1]))"
        let goal = ByteCount.mebibytes(Int(fields[0])).bytes + Self.overhead.bytes
        bench.report(
            BenchmarkCase("resident, \(size)", unit: .bytes, goal: .value(Double(goal))),
            samples: Samples(values: [fields[2]])
        )
        bench.report(
            BenchmarkCase("time per image, \(size)", unit: .microseconds),
            samples: Samples(values: [fields[3] * 1e6])
        )
    }
}
