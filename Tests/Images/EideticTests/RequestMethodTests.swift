import Eidetic
import EideticCore
import EideticFetch
import EideticTestSupport
import Testing

@Suite("Requests with a method and a body", .timeLimit(.minutes(2)))
struct RequestMethodTests {
    private func makeServer(_ steps: [ScriptedOrigin.Step]? = nil) throws -> ScriptedOrigin {
        let png = try TestImage.png(width: 8, height: 6)
        return try ScriptedOrigin(readsBodies: true) { _ in
            steps ?? [.response(200, headers: ["ETag": "\"1\"", "Cache-Control": "max-age=300"], body: png)]
        }
    }

    private func post(_ url: String, body: String, method: String = "POST") throws -> ImageRequest {
        var request = try FetchRequest(url: url)
        (request.method, request.body) = (method, Array(body.utf8))
        return ImageRequest(.remote(request), cachePolicy: .afterStorage)
    }

    private func makePipeline(
        in directory: TemporaryDirectory,
        change: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) throws -> ImagePipeline {
        var configuration = ImagePipeline.Configuration()
        configuration.diskCache = try DiskCache(.init(directory: directory.path(of: "cache")))
        change(&configuration)
        return ImagePipeline(configuration)
    }

    @Test("L20 a POST is sent with its body, and no cache has its response unless the request has a key of its own")
    func post() async throws {
        let server = try makeServer(), directory = try TemporaryDirectory(named: "post")
        let pipeline = try makePipeline(in: directory)
        var request = try post(server.url + "/a", body: "width=8")
        for _ in 0..<2 { #expect(try await pipeline.response(for: request).source == .network) }
        #expect(server.requests.map(\.method) == ["POST", "POST"])
        #expect(server.requests.allSatisfy { $0.body == Array("width=8".utf8) && $0.headers["content-type"] == nil })
        #expect(try await pipeline.cache.diskUsage.entryCount == 0 && pipeline.memoryUsage == .zero)
        request.cacheKey = "map of 8"
        #expect(try await pipeline.response(for: request).source == .network)
        #expect(try await pipeline.response(for: request).source == .memory)
        let next = try makePipeline(in: directory) { $0.freshness = .http }
        #expect(try await next.response(for: request).source == .disk)
        request.headers["Cache-Control"] = "no-cache"
        #expect(try await next.response(for: request).source == .network)
        #expect(server.requests.count == 4 && server.requests.allSatisfy { $0.headers["if-none-match"] == nil })
    }

    @Test("L02 L20 loads are coalesced only with the same method and body; their identity has no body in the clear")
    func coalescing() async throws {
        let gate = Gate(), png = try TestImage.png(width: 8, height: 6)
        let server = try ScriptedOrigin(readsBodies: true) { _ in [.wait(gate), .response(200, body: png)] }
        let pipeline = ImagePipeline(.init()), url = server.url + "/a"
        let requests = [
            try post(url, body: "secret"), try post(url, body: "secret"), try post(url, body: "other"),
            try post(url, body: "secret", method: "PUT"), ImageRequest(url),
        ]
        #expect(Set(requests).count == 4)
        #expect(
            requests.allSatisfy {
                !ImageCache.Key($0).text.contains("secret=") && !ImageCache.Key($0).text.contains("other")
            }
        )
        async let images = withThrowingTaskGroup(of: Int.self) { group in
            for request in requests { group.addTask { try await pipeline.image(for: request).size.width } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await server.waitForRequests(count: 4)
        gate.open()
        #expect(try await images == [8, 8, 8, 8, 8])
        #expect(server.requests.count == 4)
    }

    @Test("L20 a redirect of a POST: 303 and 302 become GET, 307 and 300 keep the body, and it stays with its origin")
    func redirects() async throws {
        let png = try TestImage.png(width: 8, height: 6), other = try makeServer()
        let server = try ScriptedOrigin(readsBodies: true) { request in
            guard let status = Int(request.path.dropFirst().prefix(3)) else { return [.response(200, body: png)] }
            let target = request.path.hasSuffix("away") ? other.url + "/a" : "/a"
            return [.response(status, headers: ["Location": target])]
        }
        let pipeline = ImagePipeline(.init())
        let methods = [(303, "GET"), (302, "GET"), (301, "GET"), (300, "POST"), (307, "POST"), (308, "POST")]
        for (status, method) in methods {
            server.removeRequests()
            _ = try await pipeline.image(for: try post("\(server.url)/\(status)", body: "b"))
            #expect(server.requests.map(\.method) == ["POST", method], "\(status)")
            #expect(server.requests.last?.body == (method == "POST" ? Array("b".utf8) : []))
        }
        #expect(
            await errorCode { _ = try await pipeline.image(for: post("\(server.url)/307away", body: "b")) }
                == .badRedirect
        )
        #expect(other.requests.isEmpty)
    }

    @Test("L20 a choice of the server that names no URL is its status", arguments: [false, true])
    func choice(hasField: Bool) async throws {
        let server = try makeServer([.response(300, headers: hasField ? ["Location": ""] : [:])])
        let code = await errorCode { _ = try await ImagePipeline(.init()).image(for: ImageRequest(server.url + "/a")) }
        #expect(code == .httpStatus && server.requests.count == 1)
    }

    @Test("L07 L20 a POST is not repeated after a lost connection, a PUT is; failures of a POST are not remembered")
    func failures() async throws {
        let lost = try makeServer([.reset]), pipeline = ImagePipeline(.init())
        for (method, count) in [("POST", 1), ("PUT", 8)] {
            lost.removeRequests()
            var request = try post(lost.url + "/a", body: "b", method: method)
            request.options.insert(.retryFailed)
            var configuration = ImagePipeline.Configuration()
            configuration.downloads.retryPolicy.maximumAttempts = 4
            configuration.downloads.retryPolicy.baseDelay = .milliseconds(1)
            let patient = ImagePipeline(configuration)
            #expect(await errorCode { _ = try await patient.image(for: request) } == .connectionLost)
            #expect(lost.requests.count == count, "\(method)")
        }
        let missing = try makeServer([.response(404)])
        for _ in 0..<2 {
            let request = try post(missing.url + "/a", body: "b")
            #expect(await errorCode { _ = try await pipeline.image(for: request) } == .httpStatus)
        }
        #expect(missing.requests.count == 2)
    }

    @Test("L20 a request that cannot be sent is refused", arguments: ["CONNECT", "HEAD", "TRACE", "A B", "", "GET"])
    func refusals(method: String) async throws {
        let request = try post("http://127.0.0.1:9/a", body: "b", method: method)
        #expect(await errorCode { _ = try await ImagePipeline(.init()).image(for: request) } == .invalidArgument)
    }
}

/// A shared tier in memory, as a program may have one, without leases that others wait for.
private final class DictionaryTier: SharedTier {
    let values = Guarded<[String: [UInt8]]>([:])
    let leases = Guarded(0)
    var valueLimit: ByteCount { .mebibytes(1) }
    var leaseDuration: Duration { .seconds(10) }

    func lookUp(_ key: String, leasing lease: SharedLease?) async throws(EideticError) -> SharedLookup {
        let value = values.withLock { $0[key] }
        if value == nil, lease != nil { leases.withLock { $0 += 1 } }
        return SharedLookup(value: value, lease: value == nil && lease != nil ? .granted : nil)
    }

    func insert(_ value: [UInt8], for key: String, timeToLive: Duration) async throws(EideticError) {
        values.withLock { $0[key] = value }
    }

    func remove(_ key: String, ifEqualTo value: [UInt8]?) async throws(EideticError) {
        values.withLock { $0[key] = nil }
    }

    func update(_ lease: SharedLease, of key: String, to change: SharedLease.Change) async throws(EideticError) {}
}

@Suite("The shared tier and the caches of a request", .timeLimit(.minutes(2)), .needsNginx)
struct SharedAccessTests {
    @Test("L09 C08 a request reads and writes the shared tier as it allows")
    func access() async throws {
        let fixture = try await PipelineFixture(), tier = DictionaryTier()
        func load(_ policy: ImageRequest.CachePolicy) async throws -> ImageSource {
            var configuration = ImagePipeline.Configuration()
            configuration.sharedTier = tier
            let pipeline = ImagePipeline(configuration)
            var request = ImageRequest("\(fixture.server.url)/a.png", cachePolicy: policy)
            request.cachePolicy.waitsForStorage = true
            let source = try await pipeline.response(for: request).source
            try await eventually("the pipeline is idle") { pipeline.isIdle }
            return source
        }
        _ = try fixture.serve()
        #expect(try await load(.init(writes: .all.subtracting(.shared))) == .network)
        #expect(tier.values.withLock { $0.count } == 0 && tier.leases.withLock { $0 } == 0)
        #expect(try await load(.init(reads: [], writes: .shared)) == .network)
        #expect(tier.values.withLock { $0.count } == 1)
        #expect(try await load(.init(reads: .all.subtracting(.shared))) == .network)
        #expect(try await load(.init(reads: .shared, writes: [])) == .shared)
    }

    @Test("L09 L10 F03 an animation that has played while it arrived is written to the tier")
    func arrivingAnimation() async throws {
        let bytes = try AnimationFixtures.gif(frames: 30), part = bytes.count / 3, gate = Gate(),
            tier = DictionaryTier()
        let server = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(Array(bytes.prefix(part))),
                .wait(gate),
                .send(Array(bytes.dropFirst(part))),
            ]
        }
        var configuration = ImagePipeline.Configuration()
        configuration.sharedTier = tier
        let pipeline = ImagePipeline(configuration)
        let request = ImageRequest(server.url + "/a.gif", options: .progressive, cachePolicy: .afterStorage)
        var previewed: AnimatedImage?
        for await event in pipeline.task(for: request).events {
            if case .preview(let image) = event { (previewed, _) = (image.animation, gate.open()) }
            guard case .finished(let response) = event else { continue }
            #expect(previewed != nil && response.image.animation === previewed)
        }
        #expect(tier.values.withLock { $0.count } == 1)
        let other = try await ImagePipeline(configuration).response(for: request)
        #expect(other.source == .shared && server.requests.count == 1)
    }
}
