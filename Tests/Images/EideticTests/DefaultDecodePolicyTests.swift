import Eidetic
import EideticCodecs
import EideticCore
import EideticSandbox
import EideticTestSupport
import Glibc
import Testing

/// The default, in processes of their own: the processes of the sandbox are those of the whole process.
@Suite("The default decode policy", .serialized, .timeLimit(.minutes(3)))
struct DefaultDecodePolicyTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "home") }

    private static func server() throws -> ScriptedOrigin {
        let png = try TestImage.png(width: 8, height: 6)
        return try ScriptedOrigin { _ in [.response(headers: ["Cache-Control": "max-age=60"], body: png)] }
    }

    private static func detail(_ response: ImageResponse) -> String {
        response.trace.steps.filter { $0.stage == .decode }.map(\.detail).joined()
    }

    @Test("F07 by default an image of a server is decoded in another process: from the network, and from disk")
    func network() async throws {
        let path = directory.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            HomeVariables.cacheHome.apply(path)
            let server = try DefaultDecodePolicyTests.server(), pipeline = ImagePipeline.shared
            #expect(HelperPool.shared.startedCount == 0)
            let request = ImageRequest(server.url + "/a.png", cachePolicy: .afterStorage)
            for source in [ImageSource.network, .disk] {
                let response = try await pipeline.response(for: request)
                #expect(response.source == source && response.image.size.width == 8)
                #expect(DefaultDecodePolicyTests.detail(response).contains("in the sandbox"))
                pipeline.removeAllFromMemory()
            }
            #expect(pipeline.statistics.sandboxedImages == 2 && pipeline.statistics.unsandboxedImages == 0)
            #expect(HelperPool.shared.startedCount >= 1)
            // A cache does not know where the image on its disk comes from.
            let count = HelperPool.shared.requestCount
            #expect(try await ImageCache.shared.image(for: .init(request))?.size.width == 8)
            #expect(HelperPool.shared.requestCount > count)
        }
    }

    @Test("F07 by default files, data URLs and bytes are decoded in this process, which starts no other one")
    func local() async throws {
        let file = try directory.write(try TestImage.png(width: 8, height: 6), to: "a.png"), path = directory.path
        await #expect(processExitsWith: .success) { [path = path as String, file = file as String] in
            HomeVariables.cacheHome.apply(path)
            let png = try TestImage.png(width: 8, height: 6), pipeline = ImagePipeline.shared
            let data = "data:image/png," + png.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16) }.joined()
            for request in [ImageRequest("file://" + file), ImageRequest(data), ImageRequest(.bytes(png + [0]))] {
                let response = try await pipeline.response(for: request)
                #expect(!DefaultDecodePolicyTests.detail(response).contains("sandbox"))
            }
            try await ImageCache.shared.insert(bytes: png, for: "a")
            #expect(HelperPool.shared.startedCount == 0 && pipeline.statistics.sandboxedImages == 0)
            // The request has the last word.
            var request = ImageRequest(.bytes(png + [1]))
            request.decodePolicy = .sandboxed
            let response = try await pipeline.response(for: request)
            #expect(DefaultDecodePolicyTests.detail(response).contains("in the sandbox"))
            let server = try DefaultDecodePolicyTests.server()
            var remote = ImageRequest(server.url + "/b.png")
            remote.decodePolicy = .inProcess
            #expect(try await !DefaultDecodePolicyTests.detail(pipeline.response(for: remote)).contains("sandbox"))
        }
    }

    @Test("F07 with avoidDecode the header of a server's PNG is read in this process, its pixels in the sandbox")
    func headers() async throws {
        let path = directory.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            HomeVariables.cacheHome.apply(path)
            let server = try DefaultDecodePolicyTests.server(), pipeline = ImagePipeline.shared
            let request = ImageRequest(server.url + "/a.png", options: .avoidDecode, cachePolicy: .afterStorage)
            let response = try await pipeline.response(for: request)
            #expect(response.header?.size == PixelSize(width: 8, height: 6) && response.storeError == nil)
            #expect(HelperPool.shared.startedCount == 0)
            #expect(try await response.image.decoded().pixels[3, 2] == SIMD4(3, 2, 7, 255))
            #expect(HelperPool.shared.startedCount >= 1 && pipeline.statistics.sandboxedImages == 1)
            // The application has the last word.
            let count = HelperPool.shared.requestCount
            var strict = ImageRequest(server.url + "/b.png", options: .avoidDecode)
            strict.decodePolicy = .sandboxed
            #expect(try await pipeline.response(for: strict).header?.size == PixelSize(width: 8, height: 6))
            #expect(HelperPool.shared.requestCount > count)
        }
    }

    @Test("F07 with avoidDecode a header that a library reads is read in the sandbox")
    func headersOfLibraries() async throws {
        let path = directory.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            HomeVariables.cacheHome.apply(path)
            let frame = Image.Frame(pixels: try TestImage.pixels(width: 8, height: 8))
            let image = Image(frames: [frame], format: .png, sourceSize: PixelSize(width: 8, height: 8))
            let webp = try ImageEncoder.encode(image, as: .webp)
            let server = try ScriptedOrigin { _ in [.response(body: webp)] }
            let request = ImageRequest(server.url + "/a.webp", options: .avoidDecode)
            #expect(try await ImagePipeline.shared.response(for: request).header?.format == .webp)
            #expect(HelperPool.shared.startedCount >= 1)
        }
    }

    private static let svg = Array("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='7'/>".utf8)

    /// Returns the code of the error of a load; `nil` if it has none.
    private static func error(_ request: ImageRequest) async -> EideticError? {
        do throws(EideticError) {
            _ = try await ImagePipeline.shared.image(for: request)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "F07 SVG is decoded in the sandbox wherever it comes from, and in this process by the word of the application",
        .enabled(if: ImageDecoder.supportedFormats.contains(.svg), "this build has no SVG")
    )
    func vectors() async throws {
        let file = try directory.write(Self.svg, to: "a.svg"), path = directory.path
        await #expect(processExitsWith: .success) { [path = path as String, file = file as String] in
            HomeVariables.cacheHome.apply(path)
            let svg = DefaultDecodePolicyTests.svg, pipeline = ImagePipeline.shared
            let server = try ScriptedOrigin { _ in [.response(body: svg)] }
            let data = "data:image/svg+xml," + svg.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16) }.joined()
            let sources = [
                ImageRequest("file://" + file), ImageRequest(data), ImageRequest(.bytes(svg + [10])),
                ImageRequest(server.url + "/a.svg"),
            ]
            for request in sources {
                let response = try await pipeline.response(for: request)
                #expect(response.image.size == PixelSize(width: 9, height: 7))
                #expect(DefaultDecodePolicyTests.detail(response).contains("in the sandbox"))
            }
            var own = ImageRequest(.bytes(svg + [10, 10]))
            own.decodePolicy = .inProcess
            let response = try await pipeline.response(for: own)
            #expect(!DefaultDecodePolicyTests.detail(response).contains("sandbox"))
        }
    }

    @Test(
        "F07 without a program SVG from anywhere, and AVIF from a server, fail with an error that says what is missing",
        .enabled(if: Set(ImageDecoder.supportedFormats).isSuperset(of: [.svg, .avif]), "this build lacks a format")
    )
    func isolatedFormatsWithoutProgram() async throws {
        let path = directory.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            HomeVariables.cacheHome.apply(path)
            DecodeSandbox.programPath = "/nonexistent/eidetic-decode"
            let size = PixelSize(width: 8, height: 8), svg = DefaultDecodePolicyTests.svg
            let frame = Image.Frame(pixels: try TestImage.pixels(width: 8, height: 8))
            let avif = try ImageEncoder.encode(Image(frames: [frame], format: .png, sourceSize: size), as: .avif)
            let server = try ScriptedOrigin { request in
                [.response(body: request.path.hasSuffix("svg") ? svg : avif)]
            }
            for (request, format) in [
                (ImageRequest(.bytes(svg)), "svg"), (ImageRequest(server.url + "/a.svg"), "svg"),
                (ImageRequest(server.url + "/a.avif"), "avif"),
            ] {
                let error = await DefaultDecodePolicyTests.error(request)
                #expect(error?.code == .sandboxUnavailable, "\(error as Any)")
                #expect(error?.message.contains("/nonexistent/eidetic-decode cannot be executed") == true)
                #expect(error?.message.contains("\(format) is decoded in the application only") == true)
            }
            #expect(await DefaultDecodePolicyTests.error(ImageRequest(.bytes(avif))) == nil)
            var own = ImageRequest(server.url + "/b.svg")
            for policy in [DecodePolicy.inProcess, .sandboxedIfAvailable] {
                own.decodePolicy = policy
                #expect(await DefaultDecodePolicyTests.error(own) == nil)
            }
        }
    }

    @Test("F07 where processes die while they start, no image of a server is decoded in this process")
    func dyingProcesses() async throws {
        let program = try directory.write(Array("#!/bin/sh\nkill -9 $$\n".utf8), to: "eidetic-decode")
        chmod(program, 0o755)
        let path = directory.path
        await #expect(processExitsWith: .success) { [path = path as String, program = program as String] in
            HomeVariables.cacheHome.apply(path)
            DecodeSandbox.programPath = program
            let server = try DefaultDecodePolicyTests.server()
            for name in ["a", "b"] {
                let error = await DefaultDecodePolicyTests.error(ImageRequest("\(server.url)/\(name).png"))
                #expect(error?.code == .sandboxUnavailable, "\(error as Any)")
            }
            #expect(ImagePipeline.shared.statistics.unsandboxedImages == 0)
        }
    }

    @Test("F07 without a program images of servers are decoded in this process, which log, trace and statistics state")
    func withoutProgram() async throws {
        let path = directory.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            HomeVariables.cacheHome.apply(path)
            let lines = Guarded<[String]>([])
            DecodeSandbox.programPath = "/nonexistent/eidetic-decode"
            let server = try DefaultDecodePolicyTests.server(), pipeline = ImagePipeline.shared
            // The line is for whoever turns on the log later.
            _ = try await pipeline.image(for: ImageRequest("\(server.url)/early.png"))
            Log.configure(.warning, sink: .custom { _, _, line in lines.withLock { $0.append(line) } })
            for name in ["a", "b"] {
                let response = try await pipeline.response(for: ImageRequest("\(server.url)/\(name).png"))
                #expect(DefaultDecodePolicyTests.detail(response).contains("without the sandbox"))
            }
            let deferred = ImageRequest("\(server.url)/c.png", options: .avoidDecode)
            _ = try await pipeline.image(for: deferred).decoded()
            #expect(pipeline.statistics.unsandboxedImages == 4 && pipeline.statistics.sandboxedImages == 0)
            #expect(pipeline.statistics.description.contains("4 decoded without the sandbox"))
            #expect(pipeline.statistics.prometheusText.contains("eidetic_unsandboxed_images_total 4\n"))
            #expect(lines.withLock { $0.count { $0.contains("images are decoded in this process") } } == 1)
        }
    }
}
