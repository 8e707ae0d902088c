import Eidetic
import EideticFetch
import EideticTesting
import Testing

/// The fakes, and with them the contract of a network of the user's own.
@Suite("Fake network", .timeLimit(.minutes(1)))
struct FakeNetworkTests {
    private let network = FakeNetwork()
    private let url = "https://example.org/a.png"
    private let size = PixelSize(width: 6, height: 4)

    private var pipeline: ImagePipeline { .fake(over: network) }

    private func code(of response: FakeNetwork.Response) async -> EideticError.Code? {
        network.respond(to: url, with: response)
        let pipeline = pipeline
        return await #expect(throws: EideticError.self) { try await pipeline.image(for: ImageRequest(url)) }?.code
    }

    @Test("L27 a pipeline over a fake network loads what the network was told to respond, once")
    func loads() async throws {
        network.respond(to: url, with: .image(size: size, headers: ["X-A": "1"]))
        let pipeline = pipeline, response = try await pipeline.response(for: ImageRequest(url))
        #expect(response.image.size == size)
        #expect(response.source == .network)
        #expect(try await pipeline.response(for: ImageRequest(url)).source == .memory)
        #expect(network.requests.map(\.url) == [url])
    }

    @Test("L27 a request reaches an own network with the header fields of downloader and request")
    func headers() async throws {
        network.respond(to: url, with: .image(size: size))
        let pipeline = ImagePipeline.fake(over: network) { $0.downloads.headers["X-Application"] = "Photos" }
        var request = ImageRequest(url)
        request.headers["X-User"] = "7"
        _ = try await pipeline.image(for: request)
        let sent = try #require(network.requests.first?.headers)
        #expect(sent["X-Application"] == "Photos")
        #expect(sent["X-User"] == "7")
        #expect(sent["User-Agent"] != nil)
        #expect(sent["Accept"]?.contains("image/png") == true)
    }

    @Test("L27 statuses, errors and bodies of an own network fail as those of a server do")
    func failures() async {
        #expect(await code(of: .status(404)) == .httpStatus)
        #expect(await code(of: .bytes([1, 2, 3])) == .notAnImage)
        #expect(await code(of: .failure(EideticError(.connectionLost, message: "no"))) == .connectionLost)
        #expect(await code(of: .redirect(to: "ftp://a.b/c")) == .badRedirect)
        #expect(await code(of: .status(304)) == .badResponse)
    }

    @Test("L27 the limit of a body holds for an own network", arguments: [-1, 0, 1])
    func limit(_ excess: Int) async throws {
        var bytes = try Image.solid(size: size).encoded(as: .png)
        bytes += Array(repeating: 0, count: 100 - bytes.count + excess)
        network.respond(to: url, with: .bytes(bytes))
        var request = try FetchRequest(url: url)
        request.byteLimit = 100
        let result = await pipeline.task(for: ImageRequest(.remote(request))).outcome
        #expect(result == (excess > 0 ? .limitExceeded : nil))
    }

    @Test("L27 redirects of an own network are followed")
    func redirects() async throws {
        network.respond(to: "https://example.org/old.png", with: .redirect(to: "/a.png"))
        network.respond(to: url, with: .image(size: size))
        #expect(try await pipeline.image(for: ImageRequest("https://example.org/old.png")).size == size)
        #expect(network.requests.map(\.url) == ["https://example.org/old.png", url])
    }

    @Test("L27 a transport failure of an own network is retried where the request asks for it")
    func retries() async throws {
        network.respond(to: url, with: .failure(EideticError(.connectionLost, message: "no")))
        let pipeline = ImagePipeline.fake(over: network) { $0.downloads.retryPolicy.baseDelay = .milliseconds(1) }
        let task = pipeline.task(for: ImageRequest(url, options: .retryFailed))
        await network.waitForRequests(count: 1)
        network.respond(to: url, with: .image(size: size))
        #expect(await task.outcome == nil)
        #expect(network.requests.count >= 2)
    }

    @Test("L27 a held request is cancelled at once, its successor is loaded, and equal loads share one request")
    func held() async throws {
        network.respond(to: url, with: .image(size: size))
        network.isHeld = true
        let observed = ObservedNetwork(network)
        let pipeline = ImagePipeline.fake(over: network) { $0.downloads.network = observed }
        let first = pipeline.task(for: ImageRequest(url))
        await network.waitForRequests(count: 1)
        first.cancel()
        #expect(await first.outcome == .cancelled)
        // Nothing answers it: only the cancellation ends it. Until then loads join it.
        await observed.waitForEnd()
        let tasks = (0..<3).map { _ in pipeline.task(for: ImageRequest(url)) }
        await network.waitForRequests(count: 2)
        network.isHeld = false
        for task in tasks { #expect(await task.outcome == nil) }
        #expect(network.requests.count == 2)
    }

    @Test("L27 a progressive load over an own network gets its image, and a download its file")
    func streams() async throws {
        network.respond(to: url, with: .image(size: size))
        let request = ImageRequest(url, options: .progressive)
        #expect(try await pipeline.image(for: request).size == size)
        var configuration = Downloader.Configuration()
        configuration.network = network
        let stream = try await Downloader(configuration).stream(try FetchRequest(url: url))
        var count = 0
        for try await chunk in stream { count += chunk.count }
        #expect(try await Downloader(configuration).fetch(try FetchRequest(url: url)).bytes.count == count)
    }

    @Test("L27 a network may be another downloader")
    func nested() async throws {
        network.respond(to: url, with: .image(size: size))
        var inner = Downloader.Configuration(), outer = Downloader.Configuration()
        inner.network = network
        outer.network = Downloader(inner)
        #expect(try await Downloader(outer).fetch(try FetchRequest(url: url)).status == 200)
    }
}

extension ImageTask {
    /// The code of the error; `nil` after success.
    fileprivate var outcome: EideticError.Code? {
        get async {
            do throws(EideticError) {
                _ = try await response
                return nil
            } catch {
                return error.code
            }
        }
    }
}

/// A network that tells when a request has ended.
private final class ObservedNetwork: NetworkClient {
    private let network: FakeNetwork
    private let (ends, continuation) = AsyncStream<Never>.makeStream()

    init(_ network: FakeNetwork) { self.network = network }

    func response(to request: FetchRequest) async throws(EideticError) -> FetchResponse {
        defer { continuation.finish() }
        return try await network.response(to: request)
    }

    /// Waits until the first request has ended, or the task is cancelled.
    func waitForEnd() async { for await _ in ends {} }
}
