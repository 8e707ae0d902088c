@testable import Eidetic
import EideticCore
import EideticTestSupport
import Testing

extension ImagePipeline {
    fileprivate var waitingDecodeCount: Int { imageLoader.stage.pools.common.waitingJobCount }
}

/// Transforms with the same beginnings: the first steps of a chain are another image, which is made once.
@Suite("Shared steps of transforms", .timeLimit(.minutes(1)))
struct SharedStepsTests {
    /// The keys of the transforms that were applied, in their order.
    private final class Log: Sendable {
        private let entries = Guarded<[String]>([])

        var keys: [String] { entries.withLock { $0 } }

        func add(_ key: String) { entries.withLock { $0.append(key) } }
    }

    /// A transform whose result depends on the order, and which may wait or fail.
    private struct Step: ImageTransform {
        let number: UInt8
        let log: Log
        var hold: (started: Gate, proceed: Gate)?
        var error: EideticError?

        var key: String { "\(number)" }

        func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            log.add(key)
            hold?.started.open()
            hold?.proceed.block()
            if let error { throw error }
            return try PixelBuffer(size: pixels.size, alpha: .opaque) { index in
                var pixel = pixels[index % pixels.size.width, index / pixels.size.width]
                pixel.x = pixel.x &* 3 &+ number
                return pixel
            }
        }
    }

    private let log = Log()
    private let pipeline = ImagePipeline(.init())

    private func request(
        _ steps: Step...,
        for bytes: [UInt8]? = nil,
        options: ImageOptions = [],
        cachePolicy: ImageRequest.CachePolicy = .standard
    ) throws -> ImageRequest {
        let rendering = ImageRequest.Rendering(transform: steps.isEmpty ? nil : TransformChain(steps))
        let resource = ImageRequest.Resource.bytes(try bytes ?? TestImage.png(width: 8, height: 6))
        return ImageRequest(resource, rendering: rendering, options: options, cachePolicy: cachePolicy)
    }

    private func step(_ number: UInt8) -> Step { Step(number: number, log: log) }

    @Test("L02 L13 one after another: a chain begins with the most that memory has of it, and each step runs once")
    func sequence() async throws {
        let chains = [
            try request(), try request(step(1)), try request(step(1), step(2)),
            try request(step(1), step(2), step(3)), try request(step(1), step(2), step(4), step(5)),
        ]
        var images: [Image] = [], sources: [ImageSource] = []
        for chain in chains {
            let response = try await pipeline.response(for: chain)
            images.append(response.image)
            sources.append(response.source)
        }
        #expect(log.keys == ["1", "2", "3", "4", "5"])
        #expect(sources == [.disk, .memory, .memory, .memory, .memory])
        for (chain, image) in zip(chains, images) {
            let alone = try await ImagePipeline(.init()).image(for: chain)
            #expect(alone.pixels.withUnsafeBytes { Array($0) } == image.pixels.withUnsafeBytes { Array($0) })
        }
    }

    @Test("L02 memory gets no image that nobody has asked for")
    func unrequested() async throws {
        _ = try await pipeline.image(for: try request(step(1), step(2)))
        for prefix in [try request(), try request(step(1))] { #expect(pipeline.cachedImage(for: prefix) == nil) }
        _ = try await pipeline.image(for: try request(step(1)))
        #expect(log.keys == ["1", "2", "1"])
    }

    @Test("L02 L13 a chain within a chain has the same steps as one without")
    func nested() async throws {
        var nested = try request()
        nested.rendering.transform = TransformChain([TransformChain([step(1), step(2)]), step(3)])
        _ = try await pipeline.image(for: try request(step(1)))
        _ = try await pipeline.image(for: nested)
        #expect(log.keys == ["1", "2", "3"])
        #expect(pipeline.cachedImage(for: try request(step(1), step(2), step(3))) != nil)
    }

    @Test("L02 a load that must not read memory, or whose start was not stored there, makes all steps itself")
    func policies() async throws {
        _ = try await pipeline.image(for: try request(step(1)))
        let reads = ImageRequest.CachePolicy(reads: ImageRequest.CachePolicy.Tiers.all.subtracting(.memory))
        for policy in [reads, .reload] {
            _ = try await pipeline.image(for: try request(step(1), step(2), cachePolicy: policy))
        }
        _ = try await pipeline.image(for: try request(step(3), cachePolicy: .noStore))
        _ = try await pipeline.image(for: try request(step(3), step(4)))
        #expect(log.keys == ["1", "1", "2", "1", "2", "3", "3", "4"])
    }

    @Test("L02 at once: two chains share their first steps, whichever of them comes first", arguments: [true, false])
    func atOnce(isShortFirst: Bool) async throws {
        let (started, proceed) = (Gate(), Gate())
        let first = Step(number: 1, log: log, hold: (started, proceed))
        let short = try request(first), long = try request(first, step(2))
        let loads = isShortFirst ? [short, long] : [long, short]
        let earlier = Task { [pipeline] in try await pipeline.image(for: loads[0]) }
        await started.wait()
        let later = Task { [pipeline] in try await pipeline.image(for: loads[1]) }
        try await eventually("number of joined loads", is: 1) { pipeline.statistics.joined }
        proceed.open()
        let images = [try await earlier.value, try await later.value]
        #expect(log.keys == ["1", "2"])
        for (load, image) in zip(loads, images) {
            #expect(pipeline.cachedImage(for: load)?.pixels === image.pixels)
            #expect(image.pixels[2, 0].x == (load == short ? 7 : 23))
        }
    }

    @Test("L02 each of two chains can leave, and the other one ends", arguments: [true, false])
    func leaving(isFirst: Bool) async throws {
        let (started, proceed) = (Gate(), Gate())
        let first = Step(number: 1, log: log, hold: (started, proceed))
        let short = try request(first), long = try request(first, step(2))
        let earlier = Task { [pipeline] in try await pipeline.image(for: long) }
        await started.wait()
        let later = Task { [pipeline] in try await pipeline.image(for: short) }
        try await eventually("number of joined loads", is: 1) { pipeline.statistics.joined }
        (isFirst ? earlier : later).cancel()
        let outcome = await (isFirst ? earlier : later).result
        #expect(throws: EideticError.self) { try outcome.get() }
        proceed.open()
        _ = try await (isFirst ? later : earlier).value
        #expect(log.keys == (isFirst ? ["1"] : ["1", "2"]))
    }

    @Test("L02 a failed step fails each load that needs it, once")
    func failing() async throws {
        let (started, proceed) = (Gate(), Gate()), error = EideticError(.invalidArgument, message: "no")
        let first = Step(number: 1, log: log, hold: (started, proceed), error: error)
        var tasks = [pipeline.task(for: try request(first, step(2)))]
        await started.wait()
        tasks.append(pipeline.task(for: try request(first)))
        try await eventually("number of joined loads", is: 1) { pipeline.statistics.joined }
        proceed.open()
        for task in tasks {
            var ends: [EideticError.Code?] = []
            for await event in task.events {
                switch event {
                case .finished: ends.append(nil)
                case .failed(let error): ends.append(error.code)
                default: break
                }
            }
            #expect(ends == [.invalidArgument])
        }
        #expect(log.keys == ["1"])
    }

    @Test("L02 a shared step is as urgent as the most urgent load that needs it")
    func priority() async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.maximumConcurrentDecodes = 1
        let pipeline = ImagePipeline(configuration), (started, proceed) = (Gate(), Gate())
        let held = try request(
            Step(number: 9, log: log, hold: (started, proceed)),
            for: try TestImage.png(width: 3, height: 3)
        )
        let others = try TestImage.png(width: 4, height: 4)
        var tasks = [pipeline.task(for: held)]
        await started.wait()
        let requests = [
            try request(step(5), for: others), try request(step(1)).with(priority: .low),
            try request(step(1), step(2)).with(priority: .high),
        ]
        for (count, request) in requests.enumerated() {
            tasks.append(pipeline.task(for: request))
            try await eventually("number of decodes", is: min(2, count + 1)) { pipeline.waitingDecodeCount }
        }
        try await eventually("number of joined loads", is: 1) { pipeline.statistics.joined }
        proceed.open()
        for task in tasks { _ = try await task.image }
        #expect(log.keys.prefix(2) == ["9", "1"])
    }

    @Test(
        "L13 the frames of an animation have all steps, or none",
        arguments: [ImageOptions.transformAnimatedImage, []]
    )
    func animations(options: ImageOptions) async throws {
        let gif = TestImage.animatedGIF, other = Log()
        for options in [options, options.union(.preloadAllFrames)] {
            let pipeline = ImagePipeline(.init())
            let plain = try await pipeline.image(for: request(for: gif, options: options))
            _ = try await pipeline.image(for: request(step(1), for: gif, options: options))
            let chain = try request(step(1), step(2), for: gif, options: options)
            for image in [try await pipeline.image(for: chain), try await ImagePipeline(.init()).image(for: chain)] {
                for index in 0..<2 {
                    let frame = try #require(try await image.animation?.frame(at: index))
                    var expected = try #require(try await plain.animation?.frame(at: index))
                    for number: UInt8 in [1, 2] where options.contains(.transformAnimatedImage) {
                        expected = try Step(number: number, log: other).apply(to: expected)
                    }
                    #expect(frame.withUnsafeBytes { Array($0) } == expected.withUnsafeBytes { Array($0) })
                }
            }
        }
        #expect(log.keys.isEmpty == options.isEmpty)
    }

    @Test("L02 C09 what is made of an image in memory expires with it")
    func expiry() async throws {
        let time = ManualTime()
        var configuration = ImagePipeline.Configuration()
        configuration.memoryCache = ImageMemoryCache(costLimit: .mebibytes(1), time: time)
        let pipeline = ImagePipeline(configuration)
        var policy = ImageRequest.CachePolicy.standard
        policy.timeToLive = .seconds(10)
        _ = try await pipeline.image(for: try request(step(1), cachePolicy: policy))
        time.advance(by: .seconds(4))
        let chain = try request(step(1), step(2))
        #expect(try await pipeline.response(for: chain).source == .memory)
        time.advance(by: .seconds(5))
        #expect(pipeline.cachedImage(for: chain) != nil)
        time.advance(by: .seconds(1))
        #expect(pipeline.cachedImage(for: chain) == nil)
    }
}
