import Eidetic
import EideticSandbox
import EideticTestSupport
import Glibc
import Testing

/// Serialized, because the program of the sandbox is that of the whole process.
@Suite("Decode policies", .serialized, .timeLimit(.minutes(2)))
struct DecodePolicyTests {
    private static let program = BuiltProgram.path(of: "eidetic-decode")

    init() { DecodeSandbox.programPath = Self.program }

    private static func pipeline(
        _ policy: DecodePolicy = .sandboxed,
        change: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) -> ImagePipeline {
        var configuration = ImagePipeline.Configuration()
        configuration.decodePolicy = policy
        change(&configuration)
        return ImagePipeline(configuration)
    }

    private static func isSandboxed(_ response: ImageResponse) -> Bool {
        response.trace.steps.contains { $0.detail.contains("in the sandbox") }
    }

    @Test("F07 a pipeline decodes in the sandbox: at full size, to a size, and before a transform")
    func pipelineDecodes() async throws {
        let png = try TestImage.png(width: 64, height: 48), pipeline = Self.pipeline()
        let whole = try await pipeline.response(for: ImageRequest(.bytes(png)))
        #expect(Self.isSandboxed(whole) && whole.image.pixels[3, 2] == SIMD4(3, 2, 7, 255))
        let size = PixelSize(width: 32, height: 32)
        let request = ImageRequest(.bytes(png), rendering: .init(transform: .resize(size)))
        let small = try await Self.pipeline().response(for: request)
        #expect(Self.isSandboxed(small) && small.image.size.width <= 32)
        #expect(small.trace.steps.contains { $0.stage == .transform })
    }

    @Test("F07 C01 a grey image from the sandbox costs a byte a pixel, whether it was copied or shared")
    func greyImages() async throws {
        // The larger one stays where the process has written it.
        for (width, height) in [(300, 200), (1_300, 1_000)] {
            let tiff = TestImage.tiff(width: width, height: height), pipeline = Self.pipeline()
            let response = try await pipeline.response(for: ImageRequest(.bytes(tiff)))
            let own = try await Self.pipeline(.inProcess).image(for: ImageRequest(.bytes(tiff)))
            #expect(Self.isSandboxed(response) && response.image.cost == ByteCount(width * height))
            #expect(pipeline.cache.memory.images.totalCost == ByteCount(width * height))
            let bytes = response.image.pixels.withUnsafeBytes { Array($0) }
            #expect(bytes == own.pixels.withUnsafeBytes { Array($0) })
        }
    }

    @Test("F07 images that wait for much memory keep none of another server waiting, and are decoded once they have it")
    func largeImages() async throws {
        let turns = HelperPool.shared.turns, small = try TestImage.png(width: 8, height: 6)
        let attacker = try ScriptedOrigin { _ in [.response(body: TestImage.webp(width: 3_000, height: 3_000))] }
        let server = try ScriptedOrigin { _ in [.response(body: small)] }
        let large = (0..<6).map { "\(attacker.url)/\($0)" }, good = (0..<20).map { "\(server.url)/\($0)" }
        let pipeline = Self.pipeline { $0.maximumConcurrentDecodes = 1 }
        let used = try ["x", "y"].map { try turns.reserveBlocking(.max, origin: $0, context: nil) }
        let loads = large.map { url in Task { try await pipeline.response(for: ImageRequest(url)) } }
        try await eventually("images that wait for memory", is: large.count) { turns.memoryWaitingCount }
        for url in good { #expect(try await pipeline.response(for: ImageRequest(url)).image.size.width == 8) }
        #expect(turns.memoryWaitingCount == large.count)
        for (origin, memory) in zip(["x", "y"], used) { turns.release(memory, origin: origin) }
        for load in loads {
            let response = try await load.value
            #expect(Self.isSandboxed(response) && response.image.size.width == 3_000)
        }
        #expect(turns.count == 0 && turns.availableMemory == turns.settings.memory.bytes)
    }

    @Test("F07 all frames of an animation, and an image that is decoded on first use, come from the sandbox")
    func animationsAndDeferredImages() async throws {
        let gif = TestImage.animatedGIF
        let moving = try await Self.pipeline().response(for: ImageRequest(.bytes(gif), options: .preloadAllFrames))
        #expect(moving.image.frames.count == 2 && Self.isSandboxed(moving))
        let png = try TestImage.png(width: 64, height: 48)
        let response = try await Self.pipeline().response(for: ImageRequest(.bytes(png), options: .avoidDecode))
        #expect(response.header?.size == PixelSize(width: 64, height: 48) && !response.image.isDecoded)
        #expect(try await response.image.decoded().pixels[3, 2] == SIMD4(3, 2, 7, 255))
    }

    private static func animation(frameCount: Int) throws -> [UInt8] {
        let frames = try (0..<frameCount).map { number in
            let pixels = try PixelBuffer(size: PixelSize(width: 60, height: 50), alpha: .opaque) { index in
                SIMD4(UInt8(truncatingIfNeeded: index * 7 + 9 * number), UInt8(index % 251), UInt8(number), 255)
            }
            return Image.Frame(pixels: pixels, duration: .milliseconds(50))
        }
        let size = PixelSize(width: 60, height: 50)
        return try Image(frames: frames, format: .gif, sourceSize: size).encoded(as: .gif)
    }

    @Test("F07 F03 an animation plays frame by frame in the sandbox, from memory and from disk, with the same pixels")
    func animationsStream() async throws {
        let gif = try Self.animation(frameCount: 9)
        let response = try await Self.pipeline().response(for: ImageRequest(.bytes(gif)))
        let own = try await Self.pipeline(.inProcess).response(for: ImageRequest(.bytes(gif)))
        #expect(Self.isSandboxed(response) && !Self.isSandboxed(own))
        let animation = try #require(response.image.animation), expected = try #require(own.image.animation)
        #expect(animation.frameCount == 9 && animation.isComplete && response.image.frames.count == 1)
        for index in [8, 0, 4, 5, 8, 1] {
            let frame = try await animation.frame(at: index), other = try await expected.frame(at: index)
            #expect(frame.withUnsafeBytes { Array($0) } == other.withUnsafeBytes { Array($0) }, "frame \(index)")
        }
        #expect(animation.failure == nil)
    }

    @Test("F07 F03 L10 an animation of the sandbox starts before its file is complete")
    func animationsStartEarly() async throws {
        let bytes = try Self.animation(frameCount: 12), gate = Gate()
        let origin = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(Array(bytes.prefix(bytes.count / 2))),
                .wait(gate), .send(Array(bytes.dropFirst(bytes.count / 2))),
            ]
        }
        let request = ImageRequest("http://127.0.0.1:\(origin.port)/a.gif", options: .progressive)
        var early: AnimatedImage?
        let pipeline = Self.pipeline()
        for await event in pipeline.task(for: request).events {
            switch event {
            case .preview(let image):
                let animation = try #require(image.animation)
                #expect(!animation.isComplete)
                _ = try await animation.frame(at: 1)
                early = animation
                gate.open()
            case .finished(let response):
                #expect(Self.isSandboxed(response) && response.image.animation === early)
            case .failed(let error): Issue.record(error)
            default: break
            }
        }
        _ = try await #require(early).frame(at: 11)
        #expect(pipeline.statistics.sandboxedImages == 1)
    }

    @Test("F07 L10 previews are decoded in the sandbox while bytes arrive")
    func previews() async throws {
        let image = Image(
            frames: [.init(pixels: try TestImage.pixels(width: 200, height: 160))],
            format: .jpeg,
            sourceSize: PixelSize(width: 200, height: 160)
        )
        let bytes = try image.encoded(as: .jpeg), gate = Gate()
        let origin = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(Array(bytes.prefix(bytes.count / 2))),
                .wait(gate), .send(Array(bytes.dropFirst(bytes.count / 2))),
            ]
        }
        var previews = 0
        let request = ImageRequest("http://127.0.0.1:\(origin.port)/a.jpg", options: .progressive)
        for await event in Self.pipeline().task(for: request).events {
            switch event {
            case .preview(let image):
                #expect(image.isPartial)
                previews += 1
                gate.open()
            case .finished(let response): #expect(Self.isSandboxed(response))
            case .failed(let error): Issue.record(error)
            default: break
            }
        }
        #expect(previews > 0)
    }

    @Test("F07 a request and a host have policies of their own")
    func policiesOfRequestsAndHosts() async throws {
        let png = try TestImage.png(width: 20, height: 10)
        var request = ImageRequest(.bytes(png))
        request.decodePolicy = .sandboxed
        #expect(Self.isSandboxed(try await Self.pipeline(.inProcess).response(for: request)))
        request.decodePolicy = .inProcess
        #expect(!Self.isSandboxed(try await Self.pipeline().response(for: request)))
        let origin = try ScriptedOrigin { _ in
            [.head(200, headers: ["Content-Length": "\(png.count)"]), .send(png)]
        }
        let pipeline = Self.pipeline(.inProcess) { $0.hostDecodePolicies = ["127.0.0.1": .sandboxed] }
        #expect(
            Self.isSandboxed(try await pipeline.response(for: ImageRequest("http://127.0.0.1:\(origin.port)/a.png")))
        )
        #expect(!Self.isSandboxed(try await pipeline.response(for: ImageRequest(.bytes(png)))))
    }

    @Test("F07 a cache decodes what it has on disk in the sandbox")
    func cacheDecodes() async throws {
        let directory = try TemporaryDirectory(named: "policy")
        var configuration = ImageCache.Configuration()
        configuration.decodePolicy = .sandboxed
        let disk = try DiskCache(.init(directory: directory.path(of: "cache")))
        let cache = ImageCache(memory: ImageMemoryCache(), disk: disk, configuration: configuration)
        let count = HelperPool.shared.requestCount
        try await cache.insert(bytes: try TestImage.png(width: 20, height: 10), for: "a")
        #expect(try await cache.image(for: "a")?.size == PixelSize(width: 20, height: 10))
        #expect(HelperPool.shared.requestCount > count)
    }

    @Test("F07 without a program a load fails, or is decoded in this process, as its policy says")
    func missingProgram() async throws {
        DecodeSandbox.programPath = "/nonexistent/eidetic-decode"
        let png = try TestImage.png(width: 20, height: 10)
        await #expect(throws: EideticError.self) {
            try await Self.pipeline().image(for: ImageRequest(.bytes(png)))
        }
        let response = try await Self.pipeline(.sandboxedIfAvailable).response(for: ImageRequest(.bytes(png)))
        #expect(response.image.size.width == 20 && !Self.isSandboxed(response))
        do {
            _ = try await DecodeSandbox.status()
            Issue.record("there is no program")
        } catch { #expect(error.code == .sandboxUnavailable) }
        DecodeSandbox.programPath = Self.program
        #expect(try await DecodeSandbox.status().restrictions.contains("seccomp"))
        #expect(try await Self.pipeline().image(for: ImageRequest(.bytes(png))).size.width == 20)
    }
}
