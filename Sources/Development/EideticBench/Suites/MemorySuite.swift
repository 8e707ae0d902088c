import Eidetic
import EideticCodecs
import EideticCore
import EideticStore
import Glibc

extension Suite {
    /// The resident memory of a process that loads many more images than its memory cache holds.
    static let memory = Suite(
        "memory",
        summary: "resident memory after thousands of thumbnails, against the limit of the memory cache",
        arguments: [
            "images=NUMBER  the number of images of each round (default: 10000)",
            "rounds=NUMBER  the number of rounds in one process (default: 3)",
        ]
    ) { bench in
        let images = try bench.integer(named: "images", default: 10_000)
        let rounds = try bench.integer(named: "rounds", default: 3)
        let measurement = try ResidentMemoryMeasurement()
        try measurement.reportStart(with: bench)
        for round in 1...max(1, rounds) {
            for limit in [16, 64, 256] {
                try await measurement.measure(limit: .mebibytes(limit), images: images, round: round, with: bench)
            }
        }
    }
}

/// A server of thumbnails: JPEGs of different sizes, decoded to different sizes by several tasks.
private struct ResidentMemoryMeasurement {
    /// The resident memory that a process may have beside its cache: the program itself, and images being decoded.
    private static let overhead = ByteCount.mebibytes(40)

    /// The number of loads at a time.
    private static let taskCount = 4

    private let files: [[UInt8]]

    init() throws {
        files = try (0..<12).map { number in
            try SyntheticPhotograph.jpeg(size: PixelSize(width: 500 + 40 * number, height: 400 + 30 * number))
        }
    }

    /// Reports the resident memory of the program and its files before the first image.
    func reportStart(with bench: Bench) throws {
        let samples = Samples(values: [Double(try Self.residentByteCount())])
        bench.report(BenchmarkCase("resident, before the first image", unit: .bytes), samples: samples)
    }

    /// Loads the images through a pipeline, and reports the resident memory while its cache is full.
    func measure(limit: ByteCount, images: Int, round: Int, with bench: Bench) async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.memoryLimit = limit
        let pipeline = ImagePipeline(configuration)
        let seconds = try await Bench.seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<Self.taskCount {
                    group.addTask {
                        for index in stride(from: task, to: images, by: Self.taskCount) {
                            _ = try await pipeline.image(for: request(index: index))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        let resident = try Self.residentByteCount()
        let size = "limit \(limit.bytes >> 20) MiB, round \(round)"
        let goal = BenchmarkCase.Goal.value(Double(limit.bytes + Self.overhead.bytes))
        bench.report(
            BenchmarkCase("resident, \(size)", unit: .bytes, goal: goal),
            samples: Samples(values: [Double(resident)])
        )
        bench.report(
            BenchmarkCase("time per image, \(size)", unit: .microseconds),
            samples: Samples(values: [seconds / Double(max(1, images)) * 1e6])
        )
        withExtendedLifetime(pipeline) {}
    }

    private func request(index: Int) -> ImageRequest {
        let file = files[index % files.count]
        let resource = ImageRequest.Resource.provider(name: "image \(index)") { () throws(EideticError) in file }
        let size = PixelSize(width: 120 + index * 37 % 200, height: 120 + index * 53 % 200)
        return ImageRequest(resource, rendering: .init(size: size))
    }

    private static func residentByteCount() throws -> Int {
        let text = String(decoding: try FileSystem().contents(of: "/proc/self/statm"), as: UTF8.self)
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else {
            throw UsageError(message: "/proc/self/statm: unexpected content")
        }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
