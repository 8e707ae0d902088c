import Eidetic
import EideticTestSupport
import Testing

@Suite("Candidate files", .timeLimit(.minutes(2)))
struct CandidateTests {
    private static let small = PixelSize(width: 50, height: 40)
    private static let middle = PixelSize(width: 200, height: 160)
    private static let large = PixelSize(width: 800, height: 640)

    private func makeCandidate(_ size: PixelSize, host: String = "a.example") throws -> ImageCandidate {
        try ImageCandidate("http://\(host)/\(size.width).png", size: size)
    }

    @Test(
        "L02 the smallest candidate with the requested pixels is selected, the next smaller one if it is too slow",
        arguments: [
            // Requested size, mode, bytes a second, the cached width; the order in which widths are tried.
            (PixelSize?.some(.init(width: 100, height: 100)), ContentMode.fit, Double?.none, 0, [200, 800, 50]),
            (.some(.init(width: 200, height: 200)), .fit, nil, 0, [200, 800, 50]),
            (.some(.init(width: 200, height: 200)), .fill, nil, 0, [800, 200, 50]),
            (.some(.init(width: 10, height: 10)), .fit, nil, 0, [50, 200, 800]),
            (.some(.init(width: 2_000, height: 2_000)), .fit, nil, 0, [800, 200, 50]),
            (nil, .fit, nil, 0, [800, 200, 50]),
            // The middle one has 8,000 bytes, the large one 128,000; the limit is a second.
            (.some(.init(width: 100, height: 100)), .fit, 7_000, 0, [50, 200, 800]),
            (.some(.init(width: 100, height: 100)), .fit, 9_000, 0, [200, 800, 50]),
            (nil, .fit, 1_000, 0, [200, 800, 50]),
            // There is nothing below the smallest.
            (.some(.init(width: 10, height: 10)), .fit, 1, 0, [50, 200, 800]),
            // A cached candidate with the pixels is used, however slow its host.
            (.some(.init(width: 100, height: 100)), .fit, 7_000, 800, [800, 200, 50]),
            (.some(.init(width: 100, height: 100)), .fit, 7_000, 200, [200, 800, 50]),
            (.some(.init(width: 100, height: 100)), .fit, nil, 50, [200, 800, 50]),
        ]
    )
    func selection(requestedSize wanted: PixelSize?, mode: ContentMode, speed: Double?, cached: Int, order: [Int])
        throws
    {
        let files = try [Self.large, Self.small, Self.middle].map { try makeCandidate($0) }
        let rendering = ImageRequest.Rendering(size: wanted, contentMode: mode)
        let selection = CandidateSelection(among: files, for: rendering, timeLimit: .seconds(1)) { _ in speed }
        #expect(selection.order { $0.size.width == cached }.map(\.size.width) == order)
    }

    @Test("L02 a smaller candidate is not selected if its own host is slower")
    func slowerHost() throws {
        let files = [
            try makeCandidate(Self.small, host: "slow.example"), try makeCandidate(Self.middle, host: "fast.example"),
        ]
        let selection = CandidateSelection(among: files, for: .init(), timeLimit: .seconds(1)) {
            $0.host == "slow.example" ? 10 : 5_000
        }
        #expect(selection.order { _ in false }.map(\.size.width) == [200, 50])
    }

    /// A fast host with the small and the large file, and a slow one with the middle one.
    private struct Hosts {
        let fast: Nginx, slow: Nginx
        let files: [ImageCandidate]
        let time = ManualTime()
        let downloader: Downloader

        init() async throws {
            fast = try await Nginx()
            slow = try await Nginx(.init(server: "limit_rate 100k;"))
            files = try [(fast, small), (slow, middle), (fast, large)].map { server, size in
                let png = try TestImage.png(width: size.width, height: size.height)
                let url = try server.addFile(png, at: "\(size.width).png")
                return try ImageCandidate(url, size: size, byteCount: ByteCount(png.count))
            }
            var downloads = Downloader.Configuration()
            downloads.time = time
            downloader = Downloader(downloads)
        }

        func makePipeline(disk: DiskCache? = nil) -> ImagePipeline {
            var configuration = ImagePipeline.Configuration(diskCache: disk, downloader: downloader)
            configuration.candidateTimeLimit = .milliseconds(300)
            return ImagePipeline(configuration)
        }

        func makeRequest(width: Int, options: ImageOptions = []) -> ImageRequest {
            let size = PixelSize(width: width, height: width)
            return ImageRequest(.candidates(files), rendering: .init(size: size), options: options)
        }
    }

    @Test(
        "L02 L26 after a slow download the next smaller candidate is selected, until the measurement is outdated",
        .needsNginx
    )
    @MainActor
    func slowHost() async throws {
        let hosts = try await Hosts(), request = hosts.makeRequest(width: 100)
        let directory = try TemporaryDirectory(named: "variants")
        let disk = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        let first = hosts.makePipeline(disk: disk)
        // No host is measured yet.
        let response = try await first.response(for: request.with(options: .waitStoreCache))
        #expect(response.image.sourceSize == Self.middle)
        #expect(response.trace.steps.first?.detail == "200x160 of 3, its host not measured")
        // A cached larger candidate is used, from memory at once, and from disk in the next run.
        #expect(first.cachedImage(for: request)?.sourceSize == Self.middle)
        #expect(first.cachedPreview(for: request)?.sourceSize == Self.middle)
        #expect(try await first.response(for: request).source == .memory)
        #expect(try await hosts.makePipeline(disk: disk).response(for: request).source == .disk)
        // Also with options that deliver before the call returns.
        let hit = first.load(request.with(options: .queryMemoryDataSync)) { _ in }
        #expect(try hit.result?.get().encodedBytes != nil)
        let read = hosts.makePipeline(disk: disk).load(request.with(options: .queryDiskDataSync)) { _ in }
        #expect(try read.result?.get().source == .disk)
        // Without a cache the small candidate is loaded from the fast host, and then found in memory.
        let pipeline = hosts.makePipeline()
        let other = try await pipeline.response(for: request)
        #expect(other.image.sourceSize == Self.small)
        #expect(pipeline.cachedImage(for: request)?.sourceSize == Self.small)
        #expect(other.trace.steps.first?.detail.hasPrefix("50x40 of 3") == true)
        #expect(try await hosts.slow.requestCount(for: "/200.png") == 1)
        hosts.time.advance(by: .seconds(301))
        #expect(try await hosts.makePipeline().image(for: request).sourceSize == Self.middle)
    }

    @Test(
        "L02 L07 if a candidate fails the others are tried, larger ones first; a cached one is found offline",
        .needsNginx
    )
    func failures() async throws {
        let hosts = try await Hosts(), request = hosts.makeRequest(width: 100)
        try hosts.slow.removeFile(at: "200.png")
        #expect(try await hosts.makePipeline().image(for: request).sourceSize == Self.large)
        try hosts.fast.removeFile(at: "800.png")
        let pipeline = hosts.makePipeline()
        let standIn = try await pipeline.response(for: request.with(options: .retryFailed))
        #expect(standIn.image.sourceSize == Self.small)
        // The trace names the candidates that failed.
        let choices = standIn.trace.steps.filter { $0.stage == .choice }.map(\.detail)
        #expect(
            choices.count == 3 && choices.dropFirst().allSatisfy { $0.contains("failed: httpStatus") },
            "\(choices)"
        )
        #expect(try await pipeline.image(for: request.with(options: .fromCacheOnly)).sourceSize == Self.small)
        try hosts.fast.removeFile(at: "50.png")
        let error = await #expect(throws: EideticError.self) { try await hosts.makePipeline().image(for: request) }
        #expect(error?.httpStatus == 404)
        let none = ImageRequest(.candidates([]))
        let refusal = await #expect(throws: EideticError.self) { try await hosts.makePipeline().image(for: none) }
        #expect(refusal?.code == .invalidArgument)
    }

    @Test("L02 L19 the selected candidate is prefetched to disk", .needsNginx)
    func prefetch() async throws {
        let hosts = try await Hosts(), directory = try TemporaryDirectory(named: "variants")
        let disk = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        let prefetcher = ImagePrefetcher(pipeline: hosts.makePipeline(disk: disk), destination: .disk)
        #expect(await prefetcher.prefetch([hosts.makeRequest(width: 20)]).finish().failed == 0)
        #expect(disk.blocking.usage.entryCount == 1)
        #expect(
            try await hosts.makePipeline(disk: disk).response(
                for: hosts.makeRequest(width: 20, options: .fromCacheOnly)
            ).source == .disk
        )
        #expect(try await hosts.fast.requests().map(\.path) == ["/50.png"])
    }
}
