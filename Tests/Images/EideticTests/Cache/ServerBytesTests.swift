import Eidetic
import EideticCore
import EideticTestSupport
import Foundation
import Testing

@Suite("Bytes as servers have them", .timeLimit(.minutes(1)))
struct ServerBytesTests {
    @Test("C06 L27 Data is taken wherever bytes are: stored, loaded, provided, and from a source of one's own")
    func data() async throws {
        let png = Data(try TestImage.png(width: 8, height: 6))
        let size = PixelSize(width: 8, height: 6)
        let cache = try ImageCacheFixture().cache
        try await cache.insert(bytes: png, for: "a")
        try cache.blocking.insert(bytes: png, for: "b")
        let image = try #require(try await cache.image(for: "a"))
        try await cache.insert(image, bytes: png, for: "c")
        try cache.blocking.insert(image, bytes: png, for: "d")
        for key in ["a", "b", "c", "d"] {
            #expect(try await cache.image(for: .init(key))?.size == size, "\(key)")
            #expect(try await cache.bytes(for: .init(key)) == Array(png), "\(key)")
        }
        var configuration = ImagePipeline.Configuration()
        configuration.addSource(forScheme: "app") { _ throws(EideticError) in png }
        let provided = ImageRequest(.provider(name: "p") { () throws(EideticError) in png })
        for request in [ImageRequest(.bytes(png)), provided, "app:1"] {
            #expect(try await ImagePipeline(configuration).image(for: request).size == size, "\(request.name)")
        }
        #expect(ImageFormat(of: png) == .png && ImageFormat(of: Data()) == nil)
    }

    @Test("L27 an image of the program's own function is not one of the disk, until the disk has it")
    func providers() async throws {
        let png = try TestImage.png(width: 8, height: 6), disk = try ImageCacheFixture().disk
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.addSource(forScheme: "app") { _ throws(EideticError) in png }
        let provider = ImageRequest.Resource.provider(name: "p") { () throws(EideticError) in png }
        let requests = [
            ImageRequest(provider, cachePolicy: .afterStorage), ImageRequest("app:1", cachePolicy: .afterStorage),
        ]
        for source in [ImageSource.provider, .disk] {
            let pipeline = ImagePipeline(configuration)
            for request in requests { #expect(try await pipeline.response(for: request).source == source) }
            #expect(pipeline.statistics.diskHits == (source == .disk ? 2 : 0))
        }
    }

    @Test("C09 an image and its bytes are stored with a time to live")
    func timeToLive() async throws {
        let cache = try ImageCacheFixture().cache
        let png = try TestImage.png(width: 8, height: 6)
        let start = Timestamp.now
        try await cache.insert(try TestImage.image(), for: "image", timeToLive: .seconds(60))
        try await cache.insert(bytes: png, for: "bytes", timeToLive: .seconds(60))
        try await cache.insert(bytes: png, for: "default")
        for key in ["image", "bytes"] {
            let expiration = try #require(try await cache.metadata(for: .init(key))?.expirationTime)
            #expect((start + .seconds(60)...Timestamp.now + .seconds(60)).contains(expiration), "\(key)")
        }
        #expect(try await cache.metadata(for: "default")?.expirationTime == nil)
    }
}
