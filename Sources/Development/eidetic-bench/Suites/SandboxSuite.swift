import Eidetic
import EideticCodecs
import EideticCore
import EideticSandbox

extension Suite {
    /// Decoding in the sandbox against decoding in this process.
    static let sandbox = Suite(
        "sandbox",
        summary: "images decoded in the sandbox against the same in this process",
        arguments: ["thumbnails=1000  the number of thumbnails"]
    ) { bench in
        let pool = HelperPool.shared
        _ = try pool.description()
        let small = try SyntheticPhotograph.jpeg(size: PixelSize(width: 1_200, height: 833))
        try await compareFullSize(small, name: "jpeg, 1 megapixel", goal: nil, with: bench)
        let large = try SyntheticPhotograph.jpeg(size: PixelSize(width: 4_000, height: 3_000))
        try await compareFullSize(large, name: "jpeg, 12 megapixels", goal: .ratio(1.05), with: bench)
        let count = try bench.integer(named: "thumbnails", default: 1_000, quick: 20)
        try await compareThumbnails(count: count, with: bench)
    }

    private static func compareFullSize(
        _ jpeg: [UInt8],
        name: String,
        goal: BenchmarkCase.Goal?,
        with bench: Bench
    ) async throws {
        let pool = HelperPool.shared
        let options = DecodeOptions()
        var sandboxed: [Double] = []
        var own: [Double] = []
        // Both in turn, so that other work of the machine is the same for both.
        for _ in 0..<max(3, bench.sampleCount(40)) {
            own.append(1e3 * (try await Bench.seconds { blackHole(try ImageDecoder.decode(jpeg).size) }))
            sandboxed.append(
                1e3
                    * (try await Bench.seconds {
                        let limits = DecodeLimits()
                        blackHole(try pool.decode(jpeg, options: options, limits: limits, context: nil).image.size)
                    })
            )
        }
        bench.report(
            BenchmarkCase(name, unit: .milliseconds, goal: goal),
            samples: Samples(values: sandboxed),
            baseline: ("in this process", Samples(values: own))
        )
        let surplus = Samples(values: sandboxed).minimum - Samples(values: own).minimum
        bench.report(
            BenchmarkCase("\(name), surplus", unit: .milliseconds, goal: goal == nil ? .value(0.5) : nil),
            samples: Samples(values: [surplus])
        )
    }

    /// Compares thumbnails of photographs on all threads of a pipeline's pool.
    private static func compareThumbnails(count: Int, with bench: Bench) async throws {
        let photographs = try Photographs(count: min(count, 100))
        let files = try photographs.names.map { try FileSystem().contents(of: "\(photographs.directory)/\($0)") }
        let options = DecodeOptions(size: PixelSize(width: 400, height: 400))
        let threads = WorkPool(name: "thumbnails", maximumThreadCount: HelperPool.Settings().idleLimit)
        func seconds(_ policy: DecodePolicy) async -> Double {
            await Bench.seconds {
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<count {
                        let bytes = files[index % files.count]
                        group.addTask {
                            _ = try? await threads.run { context throws(EideticError) in
                                let host = DecodeHost(threads: threads)
                                return try policy.decode(bytes, options: options, in: host, context: context).image.size
                            }
                        }
                    }
                }
            }
        }
        var sandboxed: [Double] = []
        var own: [Double] = []
        for _ in 0..<max(2, bench.sampleCount(5)) {
            own.append(await seconds(.inProcess))
            sandboxed.append(await seconds(.sandboxed))
        }
        bench.report(
            BenchmarkCase("\(count) thumbnails", unit: .seconds, goal: .ratio(1.1)),
            samples: Samples(values: sandboxed),
            baseline: ("in this process", Samples(values: own))
        )
    }
}
