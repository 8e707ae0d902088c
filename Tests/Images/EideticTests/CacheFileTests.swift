import Eidetic
import EideticCore
import EideticFetch
import EideticTestSupport
import Testing

@Suite("Files of the cache's images, and header fields at run time", .timeLimit(.minutes(2)))
struct CacheFileTests {
    @Test("C08 an image of the cache is written to a file with the extension of its format, and nothing else in it")
    func file() async throws {
        let fixture = try ImageCacheFixture(), directory = fixture.directory.path(of: "exported/files")
        for format in [ImageFormat.png, .jpeg, .gif] {
            let bytes = try TestImage.image().encoded(as: format)
            try await fixture.cache.insert(bytes: bytes, for: .init("a \(format)"))
            for _ in 0..<2 {
                let path = try #require(try await fixture.cache.writeFile(for: .init("a \(format)"), to: directory))
                #expect(path.hasPrefix("\(directory)/") && path.hasSuffix(".\(format.fileExtension)"))
                #expect(try FileSystem().contents(of: path) == bytes)
            }
        }
        #expect(try FileSystem().entryNames(in: directory).count == 3)
        #expect(try await fixture.cache.writeFile(for: "absent", to: directory) == nil)
        let refused = fixture.directory.path(of: "file")
        _ = try fixture.directory.write([1], to: "file")
        #expect(await errorCode { _ = try await fixture.cache.writeFile(for: "a png", to: refused) } != nil)
    }

    @Test("L20 header fields of a downloader that change apply to the next requests, and not to the identity of images")
    func headers() async throws {
        let png = try TestImage.png(width: 8, height: 6),
            server = try ScriptedOrigin { _ in [.response(200, body: png)] }
        let pipeline = ImagePipeline { $0.downloads.headers = ["X-Token": "one"] }
        let downloader = pipeline.configuration.downloader
        _ = try await pipeline.image(for: ImageRequest(server.url + "/1"))
        #expect(downloader.headers["X-Token"] == "one")
        downloader.headers["X-Token"] = "two"
        _ = try await pipeline.image(for: ImageRequest(server.url + "/2"))
        #expect(try await pipeline.response(for: ImageRequest(server.url + "/1")).source == .memory)
        downloader.headers = ["A B": "c"]
        #expect(
            await errorCode { _ = try await pipeline.image(for: ImageRequest(server.url + "/3")) } == .invalidArgument
        )
        downloader.headers = [:]
        _ = try await pipeline.image(for: ImageRequest(server.url + "/4"))
        #expect(server.requests.map { $0.headers["x-token"] } == ["one", "two", nil])
        #expect(server.requests.allSatisfy { $0.headers["accept"]?.contains("image/png") == true })
    }
}
