import Eidetic
import EideticTestSupport
import Testing

@Suite("Failures", .timeLimit(.minutes(2)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct FailureTests {
    /// Loads and expects a failure; afterwards nothing may be on disk.
    private func failure(
        of request: ImageRequest,
        in fixture: PipelineFixture,
        location: SourceLocation = #_sourceLocation
    ) async throws -> EideticError? {
        let error = await #expect(throws: EideticError.self, sourceLocation: location) {
            try await fixture.pipeline.image(for: request)
        }
        let offline = request.with(options: [], cachePolicy: .cachedOnly)
        let cached = await #expect(throws: EideticError.self, sourceLocation: location) {
            try await fixture.nextRun().image(for: offline)
        }
        #expect(cached?.code == .cacheMiss, sourceLocation: location)
        return error
    }

    @Test("L07 each failure of the network has its own code, and nothing of it is cached")
    func network() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /broken { return 500; }"))
        let missing = try await failure(of: ImageRequest(fixture.server.url + "/missing.png"), in: fixture)
        #expect(missing?.code == .httpStatus)
        #expect(missing?.httpStatus == 404)
        let broken = try await failure(of: ImageRequest(fixture.server.url + "/broken"), in: fixture)
        #expect(broken?.httpStatus == 500)
        let port = try LoopbackPort.unused()
        let refused = try await failure(of: ImageRequest("http://127.0.0.1:\(port)/a.png"), in: fixture)
        #expect(refused?.code == .connectionRefused)
        let unknown = try await failure(of: ImageRequest("http://nobody.invalid/a.png"), in: fixture)
        #expect(unknown?.code == .hostNotFound)
    }

    @Test("F01 a web page with status 200 is not an image, and is not cached")
    func html() async throws {
        let fixture = try await PipelineFixture()
        let url = try fixture.server.addFile(
            Array("<!DOCTYPE html><html><body>Not an image</body></html>".utf8),
            at: "a.png"
        )
        #expect(try await failure(of: ImageRequest(url), in: fixture)?.code == .notAnImage)
    }

    @Test("F07 a truncated image is an error, and is not cached", arguments: [20, 40, 60, 80, 99])
    func truncated(_ percent: Int) async throws {
        let fixture = try await PipelineFixture()
        let bytes = try TestImage.png(width: 200, height: 200)
        let url = try fixture.server.addFile(Array(bytes.prefix(bytes.count * percent / 100)), at: "a.png")
        #expect(try await failure(of: ImageRequest(url), in: fixture)?.code == .truncated)
    }

    @Test("F07 an image of 50,000 × 50,000 pixels is refused before memory is allocated")
    func bomb() async throws {
        let fixture = try await PipelineFixture()
        // Width and height in the header chunk, behind the signature of 8 bytes.
        let header: [UInt8] = [0, 0, 0xc3, 0x50, 0, 0, 0xc3, 0x50, 8, 6, 0, 0, 0]
        let onePixel = try TestImage.png(width: 1, height: 1)
        let bytes = onePixel.prefix(8) + TestImage.chunk(named: "IHDR", data: header) + onePixel.dropFirst(33)
        let url = try fixture.server.addFile(Array(bytes), at: "bomb.png")
        let error = try await failure(of: ImageRequest(url), in: fixture)
        #expect(error?.code == .limitExceeded)
        #expect(error?.message.contains("50000") == true)
    }

    @Test(
        "L07 text that is not a URL of an image is refused with the reason",
        arguments: ["", "not a url", "http://", "ftp://example.org/a.png", "javascript:alert(1)", "http://a b/"]
    )
    func badURLs(_ text: String) async {
        let error = await #expect(throws: EideticError.self) {
            try await ImagePipeline(.init()).image(for: ImageRequest(text))
        }
        #expect(error?.code == .invalidURL)
    }

    @Test(
        "L07 a path given as a URL is refused, with a hint",
        arguments: [
            ("/a/b.png", "is a path and no URL; use file:///a/b.png"),
            ("./b.png", "is a path and no URL; use file:// and an absolute path"),
            ("~/b.png", "is a path and no URL; use file:// and an absolute path"),
            ("a/b.png", "has no scheme; use https://, or file:// and an absolute path"),
            ("//host/b.png", "has no scheme; use https://, or file:// and an absolute path"),
        ]
    )
    func paths(_ text: String, hint: String) async {
        let error = await #expect(throws: EideticError.self) {
            try await ImagePipeline(.init()).image(for: ImageRequest(text))
        }
        #expect(error?.code == .invalidURL)
        #expect(error?.message == "\"\(text)\" \(hint)")
    }

    @Test("C18 L07 a URL that lacks its scheme is refused with a hint, and without its password")
    func schemeIsMissing() async {
        let error = await #expect(throws: EideticError.self) {
            try await ImagePipeline(.init()).image(for: "bob:SECRET@example.org/a.png")
        }
        let hint = "is no URL that can be loaded; use https://, or file:// and an absolute path"
        #expect(error?.message == "\"bob:…@example.org/a.png\" \(hint)")
    }
}
