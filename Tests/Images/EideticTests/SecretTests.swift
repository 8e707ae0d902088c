import Eidetic
import EideticCore
import EideticTestSupport
import Testing

@Suite("Images of requests with secrets", .timeLimit(.minutes(1)), .needsNginx)
struct SecretTests {
    @Test("C18 an image that credentials brought is found by the next run, and its file reveals nothing of them")
    func credentials() async throws {
        let fixture = try await PipelineFixture()
        let plain = try fixture.serve("a.png")
        var server = try FetchRequest(url: plain.name)
        server.credentials = .basic(user: "alice", password: "hunter2")
        server.headers["X-Token"] = "opensesame"
        let request = ImageRequest(.remote(server), cachePolicy: .afterStorage)
        #expect(try await fixture.pipeline.response(for: request).source == .network)
        let next = try fixture.nextRun()
        #expect(try await next.response(for: request).source == .disk)
        #expect(next.cachedImage(for: request) != nil)
        // Neither the request without the secrets, nor one with others, has the same image.
        #expect(next.cachedImage(for: plain) == nil)
        server.credentials = .basic(user: "alice", password: "hunter3")
        #expect(next.cachedImage(for: ImageRequest(.remote(server))) == nil)
        let entry = try #require(try next.cache.disk?.blocking.entries().first)
        #expect(entry.isPrivate)
        let text = String(decoding: try FileSystem().contents(of: entry.path), as: UTF8.self) + entry.path
        for secret in ["hunter2", "opensesame", "alice"] { #expect(!text.contains(secret)) }
        #expect(!text.contains(ImageCache.Key(request).text.suffix(64)))
    }
}
