import EideticCodecs
public import EideticCore
public import EideticFetch
public import EideticHTTP
public import FoundationEssentials

/// A network for tests: it sends nothing, responds as it is told, and records its requests.
///
/// ```swift
/// let network = FakeNetwork()
/// network.respond(to: "https://example.org/a.png", with: .image(size: PixelSize(width: 64, height: 48)))
/// let pipeline = ImagePipeline.fake(over: network)
/// ```
///
/// A URL without a response has status 404. All members may be used on any thread.
public final class FakeNetwork: NetworkClient {
    private struct State {
        var responses: [String: Response] = [:]
        var requests: [FetchRequest] = []
        var isHeld = false
        /// The ends of streams on which requests wait; ending one resumes its request.
        var held: [AsyncStream<Never>.Continuation] = []
        /// The ends of streams on which callers wait until there are so many requests.
        var observers: [(count: Int, continuation: AsyncStream<Never>.Continuation)] = []
    }

    private let state = Guarded(State())

    /// Creates a network without responses.
    public init() {}

    /// Sets the response to all later requests for a URL.
    public func respond(to url: String, with response: Response) {
        state.withLock { $0.responses[Self.normalised(url)] = response }
    }

    /// The requests so far, with all their header fields, oldest first.
    public var requests: [FetchRequest] { state.withLock { $0.requests } }

    /// A Boolean value indicating whether requests wait before they are answered; false by default.
    ///
    /// Setting it to `false` answers all that wait.
    public var isHeld: Bool {
        get { state.withLock { $0.isHeld } }
        set {
            let released = state.withLock { state in
                defer { (state.isHeld, state.held) = (newValue, newValue ? state.held : []) }
                return newValue ? [] : state.held
            }
            for continuation in released { continuation.finish() }
        }
    }

    /// Waits until at least `count` requests were sent, or the task is cancelled.
    nonisolated(nonsending) public func waitForRequests(count: Int) async {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        let isThere = state.withLock { state in
            if state.requests.count < count { state.observers.append((count: count, continuation: continuation)) }
            return state.requests.count >= count
        }
        if isThere { continuation.finish() }
        for await _ in stream {}
    }

    /// Records a request, waits while the network is held, and returns the response that was set.
    public func response(to request: FetchRequest) async throws(EideticError) -> FetchResponse {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        let (reached, isHeld) = state.withLock { state in
            state.requests.append(request)
            if state.isHeld { state.held.append(continuation) }
            let count = state.requests.count
            defer { state.observers.removeAll { $0.count <= count } }
            return (state.observers.filter { $0.count <= count }.map(\.continuation), state.isHeld)
        }
        for observer in reached { observer.finish() }
        if !isHeld { continuation.finish() }
        for await _ in stream {}
        if Task.isCancelled { throw .cancelled }
        let response = state.withLock { $0.responses[request.url] } ?? .status(404)
        return try response.fetchResponse(url: request.url)
    }

    private static func normalised(_ url: String) -> String { (try? FetchRequest(url: url))?.url ?? url }

    /// A response of a fake network.
    public struct Response: Sendable {
        private enum Content: Sendable {
            case image(PixelSize)
            case bytes([UInt8])
            case failure(EideticError)
        }

        private let content: Content
        private let status: Int
        /// The header fields.
        public var headers: HTTPHeaders

        /// An image of one colour, encoded as PNG.
        public static func image(size: PixelSize, headers: HTTPHeaders = [:]) -> Response {
            Response(content: .image(size), status: 200, headers: headers)
        }

        /// These bytes, with status 200.
        public static func bytes(_ bytes: some ContiguousBytes, headers: HTTPHeaders = [:]) -> Response {
            Response(content: .bytes(bytes.withUnsafeBytes { Array($0) }), status: 200, headers: headers)
        }

        /// A status without a body, as 404 or 304.
        public static func status(_ status: Int, headers: HTTPHeaders = [:]) -> Response {
            Response(content: .bytes([]), status: status, headers: headers)
        }

        /// A redirect to another URL.
        public static func redirect(to url: String) -> Response { .status(302, headers: ["Location": url]) }

        /// No response: the network fails with this error.
        public static func failure(_ error: EideticError) -> Response {
            Response(content: .failure(error), status: 0, headers: [:])
        }

        func fetchResponse(url: String) throws(EideticError) -> FetchResponse {
            let bytes: [UInt8]
            switch content {
            case .image(let size): bytes = try ImageEncoder.encode(Image.solid(size: size), as: .png)
            case .bytes(let given): bytes = given
            case .failure(let error): throw error
            }
            return FetchResponse(status: status, headers: headers, bytes: bytes, effectiveURL: url)
        }
    }
}

extension Image {
    /// Creates an opaque image of one colour, for tests.
    ///
    /// - Throws: `limitExceeded` if the size is not positive.
    public static func solid(
        size: PixelSize,
        red: UInt8 = 128,
        green: UInt8 = 128,
        blue: UInt8 = 128
    ) throws(EideticError) -> Image {
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { _ in SIMD4(red, green, blue, 255) }
        return Image(frames: [Frame(pixels: pixels)], format: .png, sourceSize: size)
    }
}
