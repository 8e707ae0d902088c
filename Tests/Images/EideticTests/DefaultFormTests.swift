import Eidetic
import EideticTestSupport
import EideticViews
import Glibc
import Testing

/// The environment by which a process finds its cache directory.
enum HomeVariables: String, Codable, CaseIterable, Sendable {
    case cacheHome, home, none

    /// Sets the variables of this process; must be called before the first use of a shared part.
    func apply(_ path: String) {
        for name in ["XDG_CACHE_HOME", "HOME"] { unsetenv(name) }
        switch self {
        case .cacheHome: setenv("XDG_CACHE_HOME", path, 1)
        case .home: setenv("HOME", path, 1)
        case .none: break
        }
    }

    /// The default directory of the cache.
    func cacheDirectory(_ path: String) -> String {
        switch self {
        case .cacheHome: "\(path)/eidetic/default"
        case .home: "\(path)/.cache/eidetic/default"
        case .none: "/var/tmp/eidetic-\(geteuid())/eidetic/default"
        }
    }
}

/// The forms that most users write, without options, in a process with a home of its own, which is started twice.
@Suite("Default forms", .serialized, .timeLimit(.minutes(3)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct DefaultFormTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "home") }

    @Test(
        "C03 C13 L26 the shared pipeline stores in the directory of XDG_CACHE_HOME, of HOME or of the user below /var/tmp",
        arguments: HomeVariables.allCases
    )
    func sharedPipeline(home: HomeVariables) async throws {
        let server = try await Nginx(), name = "\(UInt64.random(in: 0 ... .max)).png"
        let url = try server.addFile(try TestImage.png(width: 6, height: 5), at: name), path = directory.path
        for source in ["network", "disk"] {
            await #expect(processExitsWith: .success) {
                [home = home as HomeVariables, path = path as String, url = url as String, source = source as String] in
                home.apply(path)
                let request = ImageRequest(url, cachePolicy: .afterStorage)
                let response = try await ImagePipeline.shared.response(for: request)
                #expect("\(response.source)" == source)
                #expect(response.storeError == nil)
                #expect(try await ImagePipeline.shared.response(for: request).source == .memory)
                #expect(ImageCache.shared.path(for: .init(request))?.hasPrefix(home.cacheDirectory(path)) == true)
                #expect(access("\(home.cacheDirectory(path))/CACHEDIR.TAG", F_OK) == 0)
                guard home == .none, source == "disk" else { return }
                try await ImageCache.shared.remove(.init(request))
            }
        }
        #expect(try await server.requests().count == 1)
    }

    @Test("C14 the first use of the shared pipeline and cache opens no directory; a load does, on another thread")
    func opensLater() async throws {
        let path = directory.path, server = try await Nginx()
        let url = try server.addFile(try TestImage.png(width: 6, height: 5), at: "a.png")
        await #expect(processExitsWith: .success) { @MainActor [path = path as String, url = url as String] in
            HomeVariables.cacheHome.apply(path)
            let pipeline = ImagePipeline.shared, cache = ImageCache.shared
            #expect(cache.disk != nil)
            #expect(pipeline.cachedImage(for: ImageRequest(url)) == nil)
            #expect(access("\(path)/eidetic", F_OK) != 0)
            _ = try await pipeline.image(for: ImageRequest(url, cachePolicy: .afterStorage))
            #expect(access("\(path)/eidetic/default", F_OK) == 0)
        }
    }

    @Test("C06 C18 without a usable directory the shared pipeline loads, and the response has the reason")
    func unusableDirectory() async throws {
        let path = try directory.write([1], to: "file"), server = try await Nginx()
        let url = try server.addFile(try TestImage.png(width: 6, height: 5), at: "a.png")
        await #expect(processExitsWith: .success) { [path = path as String, url = url as String] in
            HomeVariables.cacheHome.apply(path)
            let request = ImageRequest(url, cachePolicy: .afterStorage)
            let response = try await ImagePipeline.shared.response(for: request)
            #expect(response.source == .network)
            #expect(response.storeError?.code == .cacheUnavailable)
            let error = await #expect(throws: EideticError.self) {
                try await ImageCache.shared.bytes(for: .init(request))
            }
            #expect(error?.code == .cacheUnavailable)
            #expect(ImageCache.shared.blockingDiskUsage.entryCount == 0)
        }
    }

    @Test("L26 C01 C09 C10 L03 L04 F07 the limits, ages and time-outs of the shared pipeline are those of the contract")
    func limits() async throws {
        let path = directory.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            HomeVariables.cacheHome.apply(path)
            let configuration = ImagePipeline.shared.configuration, memory = ImageCache.shared.memory.images
            #expect(memory.costLimit == configuration.memoryLimit)
            #expect(memory.costLimit == MemoryLimits.standard)
            #expect(memory.costLimit <= .mebibytes(512))
            #expect(memory.countLimit == .max)
            let disk = try #require(ImageCache.shared.disk)
            #expect(disk.configuration.maximumAge == .seconds(604_800))
            #expect(disk.configuration.ageBasis == .change)
            var space = statvfs()
            #expect(statvfs(path, &space) == 0)
            let twoPercent = Int(space.f_bavail) * Int(space.f_frsize) / 50
            let expected = min(max(twoPercent, 64 << 20), 512 << 20)
            // Others use the file system, too.
            #expect(abs(disk.sizeLimit.bytes - expected) < 4 << 20)
            #expect(configuration.scaleDownLimit == 60_000_000)
            #expect(configuration.decodeLimits.encodedBytes == .mebibytes(256))
            #expect(configuration.decodeLimits.frames == 5_000)
            let downloads = configuration.downloads
            #expect(downloads.maximumConcurrent == 6)
            #expect(try FetchRequest(url: "http://a.test").timeout == .seconds(15))
            #expect(downloads.executionOrder == .firstInFirstOut)
        }
    }

    @Test("L01 L19 a prefetcher and a slot with their defaults share the pipeline, and the disk with the next start")
    func slotAndPrefetcher() async throws {
        let server = try await Nginx(), path = directory.path
        let url = try server.addFile(try TestImage.png(width: 6, height: 5), at: "a.png")
        for isFirst in [true, false] {
            await #expect(processExitsWith: .success) {
                @MainActor [path = path as String, url = url as String, isFirst = isFirst as Bool] in
                HomeVariables.home.apply(path)
                let request = ImageRequest(url, cachePolicy: .afterStorage), display = ShownSizes()
                if isFirst {
                    let result = await ImagePrefetcher().prefetch([request]).finish()
                    #expect(result.skipped == 0)
                }
                let slot = ImageSlot(display: display)
                let response = try await withCheckedThrowingContinuation { continuation in
                    slot.load(request) { continuation.resume(with: $0) }
                }
                #expect(response.source == (isFirst ? .memory : .disk))
                #expect(display.sizes == (isFirst ? [] : [nil]) + [PixelSize(width: 6, height: 5)])
            }
        }
        #expect(try await server.requests().count == 1)
    }
}

/// A display that records the sizes of what it shows.
@MainActor
private final class ShownSizes: ImageDisplay {
    private(set) var sizes: [PixelSize?] = []

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        sizes.append(image?.size)
        completion()
    }
}
