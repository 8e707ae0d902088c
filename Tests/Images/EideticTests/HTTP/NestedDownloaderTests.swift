import Eidetic
import EideticCodecs
import EideticCore
import EideticFetch
import EideticStore
import EideticTestSupport
import Testing

/// A downloader as the network of another one.
@Suite("Nested downloaders", .timeLimit(.minutes(1)))
struct NestedDownloaderTests {
    @Test("L20 L27 a redirect that must not be stored is asked for again, also over a downloader as network")
    func redirects() async throws {
        let target = Guarded("/1.png")
        let images = [
            "/1.png": try TestImage.png(width: 4, height: 4), "/2.png": try TestImage.png(width: 8, height: 8),
        ]
        let origin = try ScriptedOrigin { request in
            if let bytes = images[request.path] {
                return [.response(200, headers: ["Cache-Control": "max-age=600"], body: bytes)]
            }
            let location = target.withLock { $0 }
            return [.response(302, headers: ["Location": location, "Cache-Control": "no-store"], body: [])]
        }
        let directory = try TemporaryDirectory(named: "nested")
        func size() async throws -> PixelSize {
            var configuration = ImagePipeline.Configuration(diskCache: try DiskCache(.init(directory: directory.path)))
            configuration.downloads.network = Downloader()
            configuration.freshness = .http
            let request = ImageRequest("\(origin.url)/a.png", cachePolicy: .afterStorage)
            return try await ImagePipeline(configuration).image(for: request).size
        }
        #expect(try await size() == PixelSize(width: 4, height: 4))
        target.withLock { $0 = "/2.png" }
        #expect(try await size() == PixelSize(width: 8, height: 8))
        #expect(origin.requests.map(\.path) == ["/a.png", "/1.png", "/a.png", "/2.png"])
    }

    @Test("L27 a downloader as network returns any status, and no redirect is followed by it")
    func statuses() async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/gone"
                ? [.response(410, headers: [:], body: [])]
                : [.response(302, headers: ["Location": "/gone"], body: [])]
        }
        let downloader = Downloader()
        #expect(try await downloader.response(to: FetchRequest(url: "\(origin.url)/a")).status == 302)
        #expect(try await downloader.response(to: FetchRequest(url: "\(origin.url)/gone")).status == 410)
    }
}
