import Eidetic
import EideticCore
import Glibc

/// Loads many images through pipelines with different memory limits, and prints the resident memory of this process.
///
///     eidetic-probe memory IMAGES ROUNDS DIRECTORY
///
/// The first line is the resident memory before the first image, in bytes. Each other line has a limit in MiB, the
/// number of the round, the resident memory while the cache is full, and the seconds for one image.
struct MemoryProgram {
    /// The number of loads at a time.
    private static let taskCount = 4

    private let files: [[UInt8]]
    private let imageCount: Int

    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 3, let imageCount = Int(arguments[0]), let rounds = Int(arguments[1]) else {
            print("usage: eidetic-probe memory IMAGES ROUNDS DIRECTORY")
            exit(2)
        }
        let directory = arguments[2]
        let fileSystem = FileSystem()
        let files = try fileSystem.entryNames(in: directory).sorted().map {
            try fileSystem.contents(of: "\(directory)/\($0)")
        }
        let probe = MemoryProgram(files: files, imageCount: imageCount)
        try report("\(residentByteCount())")
        for round in 1...max(1, rounds) {
            for limit in [16, 64, 256] { try await probe.measure(limit: limit, round: round) }
        }
    }

    /// Loads all images, and prints the resident memory while the cache is full.
    private func measure(limit: Int, round: Int) async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.memoryLimit = .mebibytes(limit)
        let pipeline = ImagePipeline(configuration)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Self.taskCount {
                group.addTask {
                    for index in stride(from: task, to: imageCount, by: Self.taskCount) {
                        _ = try await pipeline.image(for: request(index: index))
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        try Self.report("\(limit) \(round) \(Self.residentByteCount()) \(seconds / Double(max(1, imageCount)))")
        withExtendedLifetime(pipeline) {}
    }

    private func request(index: Int) -> ImageRequest {
        let file = files[index % files.count]
        let resource = ImageRequest.Resource.provider(name: "image \(index)") { () throws(EideticError) in file }
        let size = PixelSize(width: 120 + index * 37 % 200, height: 120 + index * 53 % 200)
        return ImageRequest(resource, rendering: .init(size: size))
    }

    private static func report(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func residentByteCount() throws -> Int {
        let text = String(decoding: try FileSystem().contents(of: "/proc/self/statm"), as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(getpagesize())
    }
}
