import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

/// The forms of a download, which share redirects, retries and the list of failures.
@Suite("Forms of a download", .timeLimit(.minutes(1)))
struct DownloadFormTests {
    enum Form: CaseIterable { case array, stream }

    /// Loads a URL in one form; returns the status, the number of bytes and the final URL.
    private func load(_ request: FetchRequest, as form: Form, with downloader: Downloader) async throws -> String {
        switch form {
        case .array:
            let response = try await downloader.fetch(request)
            return "\(response.status) \(response.bytes.count) \(response.effectiveURL.suffix(2))"
        case .stream:
            let stream = try await downloader.stream(request)
            var count = 0
            for try await chunk in stream { count += chunk.count }
            return "\(stream.status) \(count) \(stream.effectiveURL.suffix(2))"
        }
    }

    private func error(_ request: FetchRequest, as form: Form, with downloader: Downloader) async -> EideticError? {
        do {
            _ = try await load(request, as: form, with: downloader)
            return nil
        } catch {
            return error as? EideticError
        }
    }

    @Test("L07 L10 every form is retried until the server recovers, and follows redirects", arguments: Form.allCases)
    func recovers(_ form: Form) async throws {
        let count = Counter()
        let origin = try ScriptedOrigin { request in
            switch count.next() {
            case 0: [.response(503, headers: ["Retry-After": "2", "Connection": "close"]), .close]
            case 1: [.response(302, headers: ["Location": "/b"])]
            case 2: [.response(503, headers: ["Connection": "close"]), .close]
            case 3: [.response(302, headers: ["Location": "/b"])]
            default: [.response(200, headers: [:], body: Fixture.image())]
            }
        }
        var configuration = Downloader.Configuration()
        let clock = ManualRetryClock()
        configuration.retryClock = clock
        var request = try FetchRequest(url: origin.url + "/a")
        request.ignoresFailureList = true
        #expect(try await load(request, as: form, with: Downloader(configuration)) == "200 1000 /b")
        #expect(origin.requests.map(\.path) == ["/a", "/a", "/b", "/a", "/b"])
        try #require(clock.delays.count == 2)
        #expect(clock.delays[0] >= .seconds(2))
    }

    @Test(
        "L07 C20 every form remembers a failure for no longer than the responses allow",
        arguments: Form.allCases
    )
    func remembers(_ form: Form) async throws {
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/moved": [.response(301, headers: ["Location": "/gone", "Cache-Control": "max-age=10"])]
            case "/gone": [.response(404, headers: ["Cache-Control": "max-age=60"])]
            case "/page": [.response(200, headers: ["Cache-Control": "no-store"], body: Fixture.webPage)]
            default: [.response(404)]
            }
        }
        var configuration = Downloader.Configuration()
        let time = ManualTime()
        configuration.time = time
        let downloader = Downloader(configuration)
        for (path, seconds) in [("/moved", 10), ("/gone", 60), ("/silent", 3_600), ("/page", 0)] {
            let request = try FetchRequest(url: origin.url + path)
            let first = await error(request, as: form, with: downloader)
            #expect(first?.code == (path == "/page" ? .notAnImage : .httpStatus))
            let remaining = downloader.failures.entry(for: request)?.remaining ?? .zero
            #expect(remaining == .seconds(seconds), "\(path)")
            guard seconds > 0 else { continue }
            time.advance(by: .seconds(seconds - 1))
            #expect(await error(request, as: form, with: downloader)?.isRemembered == true)
            time.advance(by: .seconds(1))
            #expect(await error(request, as: form, with: downloader)?.isRemembered == false)
        }
    }

    @Test("L07 C20 a failure does not depend on directives for caches, and a request with no-cache is sent")
    func directives() async throws {
        let origin = try ScriptedOrigin { _ in [.response(404)] }
        let downloader = Downloader()
        var request = try FetchRequest(url: origin.url + "/a")
        _ = await error(request, as: .array, with: downloader)
        for (control, isRemembered) in [("max-stale", true), ("no-cache", false)] {
            request.headers = ["Cache-Control": control]
            #expect(await error(request, as: .array, with: downloader)?.isRemembered == isRemembered)
        }
        request.headers = ["Pragma": "no-cache"]
        #expect(await error(request, as: .array, with: downloader)?.isRemembered == false)
        #expect(origin.requests.count == 3)
    }
}
