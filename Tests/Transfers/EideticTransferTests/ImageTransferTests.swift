import Eidetic
import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore
import EideticTestSupport
import EideticTransfer
import Testing

/// Image loads that are handed over, with a model of the transfer process.
@Suite("Image transfers", .timeLimit(.minutes(1)))
struct ImageTransferTests {
    private let model = ModelService()
    private let directory: TemporaryDirectory
    private let disk: DiskCache
    /// A server whose responses never end.
    private let origin: ScriptedOrigin
    private let never = Gate()

    /// A PNG of one pixel.
    static let png: [UInt8] = [
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 31, 21,
        196,
        137, 0, 0, 0, 13, 73, 68, 65, 84, 120, 156, 99, 248, 207, 192, 240, 31, 0, 5, 0, 1, 255, 86, 199, 47, 13, 0, 0,
        0,
        0, 73, 69, 78, 68, 174, 66, 96, 130,
    ]

    init() throws {
        directory = try TemporaryDirectory()
        disk = try DiskCache(.init(directory: "\(directory.path)/cache"))
        origin = try ScriptedOrigin { [never] _ in [.head(200, headers: ["Content-Length": "77"]), .wait(never)] }
    }

    /// Creates a pipeline as each process does.
    private func makePipeline(
        environment: any ApplicationEnvironment = ForegroundEnvironment()
    ) throws -> (pipeline: ImagePipeline, downloads: BackgroundDownloads) {
        let session = BackgroundURLSession(configuration: .init(identifier: "images"), delegate: nil, provider: model)
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        let downloads = BackgroundDownloads(session: session)
        (configuration.transfers, configuration.environment) = (downloads, environment)
        configuration.freshness = .http
        return (ImagePipeline(configuration), downloads)
    }

    private func handOver(_ request: ImageRequest) async throws {
        let environment = RecordingEnvironment()
        let (pipeline, downloads) = try makePipeline(environment: environment)
        let load = Task { try await pipeline.image(for: request) }
        await origin.waitForRequests(count: 1)
        environment.expire()
        let error = await #expect(throws: EideticError.self) { try await load.value }
        #expect(error?.code == .cancelled)
        #expect(environment.openTasks == 0)
        downloads.session.disconnect()
    }

    @Test("L06 B14 a load whose background time expires is handed over; the next process shows the image from disk")
    func handsOver() async throws {
        let request = ImageRequest("\(origin.url)/a.png", options: .continueInBackground)
        try await handOver(request)
        let sent = try #require(model.requests.first)
        #expect(sent.url == "\(origin.url)/a.png")
        #expect(sent.headers["Accept"]?.contains("image/png") == true)
        try model.finish(
            model.transfer(0),
            bytes: Self.png,
            headers: ["ETag": "\"v1\"", "Cache-Control": "max-age=600"],
            in: directory
        )
        let (pipeline, downloads) = try makePipeline()
        _ = await model.wait { $0.acknowledged.first }
        let response = try await pipeline.response(for: request)
        #expect(response.source == .disk)
        #expect(response.image.size.width == 1)
        #expect(origin.requests.count == 1)
        let entry = try #require(try await disk.read("\(origin.url)/a.png"))
        #expect(entry.metadata.headers.contains { $0.name == "ETag" && $0.value == "\"v1\"" })
        withExtendedLifetime(downloads) {}
    }

    /// Downloads whose image comes when a load asks for it, so that the load has looked at the disk before.
    private final class LateArrival: BackgroundDownloadProvider, BackgroundDownloader {
        private let downloads: BackgroundDownloads
        private let question = Gate()
        var service: BackgroundDownloadService { BackgroundDownloadService(self) }

        init(_ downloads: BackgroundDownloads) { self.downloads = downloads }

        func download(_ request: BackgroundDownloadRequest) async throws(EideticError) {
            try await downloads.download(request)
        }

        func setReceiver(_ receiver: @escaping @Sendable (BackgroundDownload) async -> Bool) {
            downloads.setReceiver { [question] download in
                await question.wait()
                return await receiver(download)
            }
        }

        func waitForArrival(of key: String) async -> Bool {
            question.open()
            return await downloads.waitForArrival(of: key)
        }
    }

    @Test("L06 B14 a load waits for the image that has come, and makes no request of its own")
    func waitsForArrival() async throws {
        let request = ImageRequest("\(origin.url)/i.png", options: .continueInBackground)
        try await handOver(request)
        try model.finish(model.transfer(0), bytes: Self.png, headers: ["Cache-Control": "max-age=60"], in: directory)
        let session = BackgroundURLSession(configuration: .init(identifier: "images"), delegate: nil, provider: model)
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.transfers = LateArrival(BackgroundDownloads(session: session))
        let response = try await ImagePipeline(configuration).response(for: request)
        #expect(response.source == .disk)
        // The wait is a step of its own, between the first look at the disk and the second.
        #expect(response.trace.steps.map(\.stage) == [.memory, .disk, .network, .disk, .decode], "\(response.trace)")
        #expect(response.trace.steps.map(\.detail).contains("by the transfer service"), "\(response.trace)")
        #expect(origin.requests.count == 1)
    }

    /// A provider whose download is stored while it is asked, so that it has none any more.
    private final class StoredMeanwhile: BackgroundDownloadProvider, BackgroundDownloader {
        private let path: String
        private let receiver = Guarded<(@Sendable (BackgroundDownload) async -> Bool)?>(nil)
        var service: BackgroundDownloadService { BackgroundDownloadService(self) }

        init(path: String) { self.path = path }

        func download(_ request: BackgroundDownloadRequest) async throws(EideticError) {}
        func setReceiver(_ receiver: @escaping @Sendable (BackgroundDownload) async -> Bool) {
            self.receiver.withLock { $0 = receiver }
        }

        func waitForArrival(of key: String) async -> Bool {
            let headers = [(name: "Cache-Control", value: "max-age=60")]
            let result = BackgroundDownload.Response(path: path, status: 200, headers: headers)
            let receive = receiver.withLock { $0 }
            #expect(await receive?(BackgroundDownload(key: key, result: .success(result))) == true)
            return false
        }
    }

    @Test("L06 B14 an image that comes between the look at the disk and the question is not asked for again")
    func comesInBetween() async throws {
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.transfers = StoredMeanwhile(path: try directory.write(Self.png, to: "body"))
        let request = ImageRequest("\(origin.url)/l.png", options: .continueInBackground)
        #expect(try await ImagePipeline(configuration).response(for: request).source == .disk)
        #expect(origin.requests.isEmpty)
    }

    /// A provider that does not answer.
    private final class SilentProvider: BackgroundDownloadProvider, BackgroundDownloader {
        let questions = Guarded(0)
        var service: BackgroundDownloadService { BackgroundDownloadService(self) }

        func download(_ request: BackgroundDownloadRequest) async throws(EideticError) {}
        func setReceiver(_ receiver: @escaping @Sendable (BackgroundDownload) async -> Bool) {}

        func waitForArrival(of key: String) async -> Bool {
            questions.withLock { $0 += 1 }
            let waiter = Waiter<Void>()
            await waiter.wait { waiter.resume(returning: ()) }
            return false
        }
    }

    @Test("B14 loads wait for a service that does not answer two seconds at most, and once")
    func waitsOnce() async throws {
        let server = try ScriptedOrigin { _ in [.response(body: Self.png)] }, provider = SilentProvider()
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.transfers = provider
        let pipeline = ImagePipeline(configuration)
        for name in ["j", "k"] {
            let request = ImageRequest("\(server.url)/\(name).png", options: .continueInBackground)
            let response = try await pipeline.response(for: request)
            #expect(response.source == .network)
            #expect(response.trace.steps.map(\.detail).contains("no transfer") == (name == "j"), "\(response.trace)")
        }
        #expect(provider.questions.withLock { $0 } == 1)
    }

    @Test("L06 B14 a handed over request with header fields is stored under its own key, of which no secret is sent")
    func keepsSecrets() async throws {
        var fetch = try FetchRequest(url: "\(origin.url)/private.png")
        fetch.credentials = .basic(user: "eve", password: "secret")
        let request = ImageRequest(.remote(fetch), options: .continueInBackground)
        try await handOver(request)
        let sent = try #require(model.requests.first)
        #expect(sent.headers["Authorization"] == "Basic ZXZlOnNlY3JldA==")
        let note = String(decoding: sent.note, as: UTF8.self)
        #expect(note.contains("hashed:") && !note.contains("secret:") && !note.contains("eve"))
        try model.finish(model.transfer(0), bytes: Self.png, headers: ["Cache-Control": "max-age=60"], in: directory)
        let (pipeline, downloads) = try makePipeline()
        _ = await model.wait { $0.acknowledged.first }
        await #expect(throws: EideticError.self) {
            try await pipeline.image(for: ImageRequest("\(origin.url)/private.png", cachePolicy: .cachedOnly))
        }
        #expect(try await pipeline.response(for: request.with(options: [], cachePolicy: .cachedOnly)).source == .disk)
        withExtendedLifetime(downloads) {}
    }

    @Test(
        "B14 a body that is no image, or must not be stored, or has another status, is acknowledged and not stored",
        arguments: [
            (Array("<html>".utf8), 200, "max-age=60"), (png, 404, "max-age=60"), (png, 200, "no-store"), ([], 200, ""),
        ]
    )
    func refusesOthers(bytes: [UInt8], status: Int, control: String) async throws {
        try await handOver(ImageRequest("\(origin.url)/b.png", options: .continueInBackground))
        let headers: HTTPHeaders = ["Cache-Control": control]
        try model.finish(model.transfer(0), bytes: bytes, status: status, headers: headers, in: directory)
        let (pipeline, downloads) = try makePipeline()
        _ = await model.wait { $0.acknowledged.first }
        #expect(try await disk.contains("\(origin.url)/b.png") == false)
        withExtendedLifetime((pipeline, downloads)) {}
    }

    @Test("L06 B14 a load with cookies cannot be handed over, and is cancelled")
    func keepsCookies() async throws {
        let options: ImageOptions = [.continueInBackground, .handleCookies]
        try await handOver(ImageRequest("\(origin.url)/c.png", options: options))
        #expect(model.requests.isEmpty)
    }

    @Test("B14 a prefetch to transfers waits for the image in this process, and needs no request of its own")
    func prefetches() async throws {
        let (pipeline, downloads) = try makePipeline()
        let prefetcher = ImagePrefetcher(pipeline: pipeline, destination: .transfers)
        let group = prefetcher.prefetch([ImageRequest("\(origin.url)/d.png")])
        let transfer = await model.wait { $0.added.first.map(TransferIdentifier.init) }
        try model.finish(transfer, bytes: Self.png, headers: ["Cache-Control": "max-age=60"], in: directory)
        let progress = await group.finish()
        #expect(progress.finished == 1 && progress.failed == 0 && progress.skipped == 0)
        #expect(origin.requests.isEmpty)
        #expect(try await disk.contains("\(origin.url)/d.png"))
        withExtendedLifetime(downloads) {}
    }

    @Test("B14 an image that comes while no pipeline exists waits for one")
    func waitsForReceiver() async throws {
        let request = ImageRequest("\(origin.url)/e.png", options: .continueInBackground)
        try await handOver(request)
        try model.finish(model.transfer(0), bytes: Self.png, headers: ["Cache-Control": "max-age=60"], in: directory)
        let session = BackgroundURLSession(configuration: .init(identifier: "images"), delegate: nil, provider: model)
        let downloads = BackgroundDownloads(session: session)
        _ = try await session.allTasks
        #expect(model.state.withLock { $0.acknowledged.isEmpty })
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.transfers = downloads
        let pipeline = ImagePipeline(configuration)
        _ = await model.wait { $0.acknowledged.first }
        #expect(try await pipeline.response(for: request).source == .disk)
    }

    @Test("B14 each image is handed over, once: a prefetch of two waits for both")
    func handsOverEach() async throws {
        let (pipeline, downloads) = try makePipeline()
        let urls = ["f", "g"].map { "\(origin.url)/\($0).png" }
        for url in urls + urls { try await downloads.download(.init(key: url, url: url, headers: [])) }
        try #require(model.requests.map(\.url) == urls)
        let group = ImagePrefetcher(pipeline: pipeline, destination: .transfers).prefetch(
            urls.map { ImageRequest($0) }
        )
        for index in 0..<2 {
            let transfer = model.transfer(index)
            try model.finish(transfer, bytes: Self.png, headers: ["Cache-Control": "max-age=60"], in: directory)
        }
        #expect(await group.finish().finished == 2)
        for url in urls { #expect(try await disk.contains(url)) }
    }

    @Test("B14 a download that comes when its object is gone is not acknowledged, and passed to the next object")
    func objectIsGone() async throws {
        let session = BackgroundURLSession(configuration: .init(identifier: "images"), delegate: nil, provider: model)
        var downloads: BackgroundDownloads? = BackgroundDownloads(session: session)
        // The key begins with a combining mark, as one that an application chooses may.
        let url = "\(origin.url)/h.png", key = "\u{301}h", keys = Guarded<[String]>([])
        try await downloads?.download(.init(key: key, url: url, headers: []))
        downloads = nil
        try model.finish(model.transfer(0), bytes: Self.png, in: directory)
        // A consumer that came later has the event after the object, which is gone, and leaves with it.
        for await event in session.events { if case .didFinishDownloading = event { break } }
        #expect(model.state.withLock { $0.acknowledged.isEmpty })
        let next = BackgroundDownloads(session: session)
        next.setReceiver { download in
            keys.withLock { $0.append(download.key) }
            return true
        }
        _ = await model.wait { $0.acknowledged.first }
        #expect(keys.withLock { $0 } == [key])
        withExtendedLifetime(next) {}
    }
}
