#if Redis
import Eidetic
import EideticCore
import EideticFetch
import EideticHTTP
import EideticRedis
import EideticStore
import EideticTestSupport
import Testing

@Suite("Contents that are not shared", .timeLimit(.minutes(2)), .needsRedis, .needsNginx)
struct UnsharedContentTests {
    @Test(
        "L09 never shared: private, no-store, no-cache, cookies, other clients, and what is stale at once",
        arguments: [
            "Cache-Control private", "Cache-Control 'max-age=300, private'", "Cache-Control no-store",
            "Cache-Control no-cache", "Cache-Control max-age=0", "Cache-Control 'max-age=300, s-maxage=0'",
            "Set-Cookie id=1", "Vary *", "Vary User-Agent", "Vary Cookie", "Vary 'Accept, Authorization'",
        ]
    )
    func unsharedResponses(field: String) async throws {
        let fleet = try await Fleet(server: "add_header \(field); expires off;")
        let request = try fleet.serve("a.png")
        let (first, second) = (try fleet.makeMachine(), try fleet.makeMachine())
        #expect(try await first.response(for: request).source == .network)
        #expect(try await fleet.redis.valueNames() == [])
        #expect(try await second.response(for: request).source == .network)
    }

    @Test("L09 never shared: what header fields, credentials, cookies, hooks or an unverified server are involved in")
    func unsharedRequests() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;", usesTLS: true)
        let plain = try fleet.serve("a.png"), secure = "\(try #require(fleet.origin.secureURL))/a.png"
        var withField = plain
        withField.headers["X-User"] = "7"
        let withPassword = ImageRequest(
            plain.url.replacing("http://", with: "http://user:secret@"),
            cachePolicy: .afterStorage
        )
        let requests = [
            withField, withPassword, ImageRequest(plain.url, options: .handleCookies, cachePolicy: .afterStorage),
            ImageRequest(secure, options: .allowInvalidCertificates, cachePolicy: .afterStorage),
            ImageRequest(plain.url, cachePolicy: .memoryOnly),
            ImageRequest(plain.url, options: .avoidDecode, cachePolicy: .afterStorage),
        ]
        for request in requests { #expect(try await fleet.makeMachine().response(for: request).source == .network) }
        let changes: [(inout ImagePipeline.Configuration) -> Void] = [
            { $0.downloads.credentials = { _ in .basic(user: "a", password: "b") } },
            { $0.downloads.headers["Authorization"] = "Bearer x" }, { $0.downloads.headers["Cookie"] = "id=1" },
            { $0.downloads.requestModifier = { request throws(EideticError) in request } },
            { $0.downloads.responseModifier = { response throws(EideticError) in response } },
            { $0.downloads.decryptor = { bytes, _ throws(EideticError) in bytes } },
        ]
        for change in changes {
            #expect(try await fleet.makeMachine(change).response(for: plain).source == .network)
        }
        #expect(try await fleet.redis.valueNames() == [])
        // And none of them finds what the others share.
        #expect(try await fleet.makeMachine().response(for: plain).source == .network)
        #expect(try await fleet.redis.valueNames().count == 1)
        for request in requests.prefix(4) {
            #expect(try await fleet.makeMachine().response(for: request).source == .network)
        }
    }

    @Test(
        "L09 never shared: no-cache also where freshness is the maximum age",
        arguments: ["no-cache", "private", "no-store", "max-age=0"]
    )
    func maximumAge(directive: String) async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control \(directive);")
        let request = try fleet.serve("a.png")
        _ = try await fleet.makeMachine { $0.freshness = .maximumAge }.response(for: request)
        #expect(try await fleet.redis.valueNames() == [])
    }

    @Test("L09 the time to live in the tier is that of the server also where freshness is the maximum age")
    func timeToLive() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=60;")
        let request = try fleet.serve("a.png")
        _ = try await fleet.makeMachine { $0.freshness = .maximumAge }.response(for: request)
        let name = try #require(try await fleet.redis.valueNames().first)
        #expect((1...60_000).contains(try #require(Int(try await fleet.redis.command("PTTL", name)))))
    }

    @Test("L09 never shared: bytes of a network of the user's own, and of a downloader with a key among its fields")
    func ownNetwork() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let request = try fleet.serve("a.png")
        let changes: [(inout ImagePipeline.Configuration) -> Void] = [
            { $0.downloads.network = Downloader() }, { $0.downloads.headers["X-Api-Key"] = "1234" },
        ]
        for change in changes { #expect(try await fleet.makeMachine(change).response(for: request).source == .network) }
        #expect(try await fleet.redis.valueNames() == [])
        _ = try await fleet.makeMachine().response(for: request)
        for change in changes { #expect(try await fleet.makeMachine(change).response(for: request).source == .network) }
    }

    @Test("L09 equal keys of callers, and URLs that differ in ignored items, are not equal for other machines")
    func wholeURLs() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let url = try fleet.serve("a.png").url, other = try fleet.serve("b.png").url
        func source(_ url: String, cacheKey: String? = nil, ignoring items: Set<String> = []) async throws
            -> ImageSource
        {
            var request = ImageRequest(url, cachePolicy: .afterStorage)
            (request.cacheKey, request.ignoredQueryItems) = (cacheKey, items)
            return try await fleet.makeMachine().response(for: request).source
        }
        #expect(try await source(url, cacheKey: "portrait") == .network)
        #expect(try await source(other, cacheKey: "portrait") == .network)
        #expect(try await source(url, cacheKey: "portrait") == .shared)
        #expect(try await source("\(url)?signature=1", ignoring: ["signature"]) == .network)
        #expect(try await source("\(url)?signature=2", ignoring: ["signature"]) == .network)
        #expect(try await source("\(url)?signature=1", ignoring: ["signature"]) == .shared)
    }

    @Test("L09 machines that trust other servers share nothing with each other")
    func trust() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let request = try fleet.serve("a.png")
        let pins = ["other.example": ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]]
        #expect(try await fleet.makeMachine().response(for: request).source == .network)
        for source in [ImageSource.network, .shared] {
            let pinning = try fleet.makeMachine { $0.downloads.pinnedPublicKeys = pins }
            #expect(try await pinning.response(for: request).source == source)
        }
        #expect(try await fleet.makeMachine().response(for: request).source == .shared)
    }

    @Test(
        "L09 a load that will not be shared leaves the lease to others",
        arguments: [([], .memoryOnly), (.avoidDecode, .standard)] as [(ImageOptions, ImageRequest.CachePolicy)]
    )
    func leases(options: ImageOptions, cachePolicy: ImageRequest.CachePolicy) async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let request = try fleet.serve("a.png")
        let recorder = RecordingTier(try fleet.makeTier()) { Issue.record("it acquires a lease") }
        let machine = try fleet.makeMachine { $0.sharedTier = recorder }
        _ = try await machine.response(for: ImageRequest(request.url, options: options, cachePolicy: cachePolicy))
        #expect(recorder.keys.count == 1)
        #expect(try await fleet.redis.command("DBSIZE") == "0")
    }
}
#endif
