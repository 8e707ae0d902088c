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
