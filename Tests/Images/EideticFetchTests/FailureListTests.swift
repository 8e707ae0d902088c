import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Failure list", .timeLimit(.minutes(1)))
struct FailureListTests {
    private let time = ManualTime()

    private func makeDownloader(changing change: (inout Downloader.Configuration) -> Void = { _ in }) -> Downloader {
        var configuration = Downloader.Configuration()
        configuration.time = time
        change(&configuration)
        return Downloader(configuration)
    }

    @Test(
        "L07 a request that failed permanently is not sent until its entry expires, unless it ignores the failure list"
    )
    func remembers() async throws {
        let origin = try ScriptedOrigin { _ in [.response(404)] }
        let downloader = makeDownloader()
        var request = try FetchRequest(url: origin.url + "/a.png")
        let first = await failure { [request] () async throws(EideticError) in try await downloader.fetch(request) }
        #expect(first?.code == .httpStatus && first?.isRemembered == false)
        for _ in 0..<2 {
            let error = await failure { [request] () async throws(EideticError) in try await downloader.fetch(request) }
            #expect(error?.code == .httpStatus)
            #expect(error?.httpStatus == 404)
            #expect(error?.isRemembered == true)
            #expect(
                error?.message == "\(request.url): the server responded with status 404 Not Found "
                    + "(remembered; the request is not sent again for 3600 s)"
            )
        }
        #expect(origin.requests.count == 1)
        #expect(downloader.failures.entry(for: request)?.remaining == .seconds(3_600))

        request.ignoresFailureList = true
        _ = await failure { [request] () async throws(EideticError) in try await downloader.fetch(request) }
        #expect(origin.requests.count == 2)
        request.ignoresFailureList = false
        time.advance(by: .seconds(3_601))
        _ = await failure { [request] () async throws(EideticError) in try await downloader.fetch(request) }
        #expect(origin.requests.count == 3)
    }

    @Test("L07 a success with ignoresFailureList removes the entry")
    func forgiven() async throws {
        let count = Counter()
        let origin = try ScriptedOrigin { _ in
            count.next() == 0 ? [.response(404)] : [.response(200, headers: [:], body: Fixture.image())]
        }
        let downloader = makeDownloader()
        var request = try FetchRequest(url: origin.url)
        _ = await failure { [request] () async throws(EideticError) in try await downloader.fetch(request) }
        #expect(downloader.failures.entries.count == 1)
        request.ignoresFailureList = true
        #expect(try await downloader.fetch(request).status == 200)
        #expect(downloader.failures.entries.isEmpty)
        request.ignoresFailureList = false
        #expect(try await downloader.fetch(request).status == 200)
    }

    @Test("L07 408, 425, 429 and 5xx are not permanent failures", arguments: [408, 425, 429, 500, 503])
    func passing(_ status: Int) async throws {
        let origin = try ScriptedOrigin { _ in [.response(status)] }
        let downloader = makeDownloader()
        _ = await failure { () async throws(EideticError) in try await downloader.fetch(url: origin.url) }
        #expect(downloader.failures.entries.isEmpty)
    }

    @Test("L07 transport failures are not permanent failures")
    func transport() async throws {
        let origin = try ScriptedOrigin { _ in [.close] }
        let downloader = makeDownloader()
        for url in [origin.url, "http://127.0.0.1:1/", "http://no-such-host.invalid/"] {
            #expect(await failure { () async throws(EideticError) in try await downloader.fetch(url: url) } != nil)
        }
        #expect(downloader.failures.entries.isEmpty)
    }

    @Test("L07 a cancelled request is no permanent failure, before its response or within")
    func cancelled() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/head": [.wait(gate), .response(404)]
            case "/body": [.head(200, headers: ["Content-Length": "99"]), .send(Fixture.image(length: 9)), .wait(gate)]
            default: [.response(200, headers: [:], body: Fixture.image())]
            }
        }
        let downloader = makeDownloader()
        for (number, path) in ["/head", "/body"].enumerated() {
            let request = try FetchRequest(url: origin.url + path)
            let task = Task { await failure { () async throws(EideticError) in try await downloader.fetch(request) } }
            await origin.waitForRequests(count: number + 1)
            task.cancel()
            #expect(await task.value?.code == .cancelled)
        }
        #expect(try await downloader.fetch(url: origin.url).status == 200)
        #expect(downloader.failures.entries.isEmpty)
        gate.open()
    }

    @Test("L07 a response that is forbidden for one user does not block another user")
    func perUser() async throws {
        let origin = try ScriptedOrigin { request in
            request.headers["authorization"] == nil
                ? [.response(403)] : [.response(200, headers: [:], body: Fixture.image())]
        }
        let downloader = makeDownloader()
        var request = try FetchRequest(url: origin.url)
        _ = await failure { [request] () async throws(EideticError) in try await downloader.fetch(request) }
        #expect(downloader.failures.entries.count == 1)
        request.headers["Authorization"] = "Bearer me"
        #expect(try await downloader.fetch(request).status == 200)
    }

    @Test("L07 the list is bounded, can be read and cleared, and is cleared when the network changes")
    func bounded() async throws {
        let origin = try ScriptedOrigin { _ in [.response(404)] }
        let downloader = makeDownloader { $0.failurePolicy.capacity = 3 }
        for number in 0..<5 {
            _ = await failure { () async throws(EideticError) in
                try await downloader.fetch(url: "\(origin.url)/\(number)")
            }
        }
        #expect(downloader.failures.entries.map { $0.request.url.suffix(2) } == ["/2", "/3", "/4"])
        downloader.failures.remove(try FetchRequest(url: "\(origin.url)/3"))
        #expect(downloader.failures.entries.map { $0.request.url.suffix(2) } == ["/2", "/4"])
        downloader.resetAfterNetworkChange()
        #expect(downloader.failures.entries.isEmpty)
    }
}
