import EideticCore
import EideticHTTP

/// A request for a single exchange with a server, without redirects and retries.
final class ExchangeRequest: Sendable {
    /// A function that receives the outcome, and returns the function that resumes the caller.
    ///
    /// It is called once, on the engine's thread or on the thread that cancels the request.
    typealias Completion = @Sendable (ExchangeOutcome) -> @Sendable () -> Void

    let id: UInt64
    let redirect: Redirect
    /// All header fields to send, those of the downloader included.
    let headers: HTTPHeaders
    let credentials: Credentials?
    /// The priority and the cancellation of the download.
    let context: JobContext
    let requiresImage: Bool
    let bodies: BodyPolicy
    /// The part of the body that an earlier attempt received; the remainder is requested.
    let partialBody: PartialBody?
    /// The channel for the chunks of the body; `nil` for any other destination.
    let channel: BodyChannel?
    /// A function that receives the progress on the engine's thread.
    let onProgress: @Sendable (LoadProgress) -> Void
    /// A function that receives the decoded body of an acceptable response as it arrives; `nil` for none.
    let onBody: BodyHandler?
    let completion: Completion

    /// A function that receives a part of a body, and its position in it, on the engine's thread.
    typealias BodyHandler = @Sendable (_ part: UnsafeRawBufferPointer, _ offset: Int) -> Void

    init(
        id: UInt64,
        redirect: Redirect,
        headers: HTTPHeaders,
        credentials: Credentials?,
        context: JobContext,
        requiresImage: Bool,
        bodies: BodyPolicy,
        partialBody: PartialBody? = nil,
        channel: BodyChannel? = nil,
        onProgress: @escaping @Sendable (LoadProgress) -> Void = { _ in },
        onBody: BodyHandler? = nil,
        completion: @escaping Completion
    ) {
        self.id = id
        self.redirect = redirect
        self.headers = headers
        self.credentials = credentials
        self.context = context
        self.requiresImage = requiresImage
        self.bodies = bodies
        self.partialBody = partialBody
        self.channel = channel
        self.onProgress = onProgress
        self.onBody = onBody
        self.completion = completion
    }

    /// Throws `invalidArgument` if the credentials cannot be sent; hooks may have returned them.
    func validate() throws(EideticError) { try credentials?.validate() }

    func accepts(_ head: ResponseHead) -> Bool { bodies.accepts(head, isResumed: partialBody != nil) }

    /// Returns whether the body of a response is kept.
    func keepsBody(of head: ResponseHead) -> Bool {
        accepts(head) || bodies.keepsAll && !head.isRedirect && head.status != 304
    }

    var url: String { redirect.url }
    var origin: Origin { redirect.origin }
    var fetchRequest: FetchRequest { redirect.originalRequest }
}

/// The decision about which responses are returned with their bodies.
struct BodyPolicy: Sendable {
    let acceptableStatus: Set<Int>
    /// A Boolean value indicating whether the bodies of all other responses are kept, for a hook or a caller that
    /// decides about the status.
    let keepsAll: Bool

    /// Returns whether a response is returned as it is.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - isResumed: A Boolean value indicating whether the remainder of a body was requested.
    /// - Returns: `false` for a redirect, for 304, and for a status that is not in the set.
    func accepts(_ head: ResponseHead, isResumed: Bool) -> Bool {
        guard !head.isRedirect, head.status != 304 else { return false }
        return acceptableStatus.contains(head.status) || isResumed && head.status == 206
    }
}

struct ExchangeOutcome: Sendable {
    /// The head of the response; `nil` if none arrived.
    var head: ResponseHead?
    /// The body, or the part of it that arrived before an error.
    var body: [UInt8] = []
    /// The error of the exchange; `nil` if a complete response arrived, whatever its status.
    var error: EideticError?
    /// A Boolean value indicating whether the server could not be reached: no connection was made, or no byte of a
    /// response came within the time-out.
    var isUnreachable = false
    /// The uptime at which the exchange started; `nil` if it was not sent.
    var startTime: Duration?
    /// The uptime at which the exchange ended; `nil` if it was not sent.
    var endTime: Duration?
    /// The share of the body in the limit of all bodies in memory.
    var share: BodyShare?
    var sharedMetrics = SharedMetrics(FetchMetrics())
    /// The absolute URL of a redirect's target.
    var redirectTarget: String?
    /// A Boolean value indicating whether the process was stopped during the exchange.
    var wasStopped = false
    /// A Boolean value indicating whether the response has another range than requested.
    var hasUnrequestedRange = false

    var metrics: FetchMetrics { sharedMetrics.metrics }

    mutating func countAttempts(_ count: Int) {
        var metrics = metrics
        metrics.attemptCount = count
        sharedMetrics = SharedMetrics(metrics)
    }

    static let cancelled = ExchangeOutcome(error: .cancelled)
}
