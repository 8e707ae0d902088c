import EideticCore

/// One exchange with a server, as the engine is asked for it: no redirects, no retries.
final class ExchangeRequest: Sendable {
    /// Called once, on the engine's thread or on that of the one who cancels; gives what wakes the one who waits.
    typealias Completion = @Sendable (ExchangeOutcome) -> @Sendable () -> Void

    let id: UInt64
    let redirect: Redirect
    /// All fields that go out, the downloader's own included.
    let headers: HTTPHeaders
    let credentials: Credentials?
    /// Says whether it is still wanted, and how urgently.
    let context: JobContext
    let requiresImage: Bool
    /// What is there already; the rest was asked for.
    let partialBody: PartialBody?
    /// Where the body goes piece by piece; `nil` where it is collected.
    let channel: BodyChannel?
    /// The file that the body goes to piece by piece; `nil` where it is collected.
    let filePath: String?
    /// Called on the engine's thread.
    let onProgress: @Sendable (FetchProgress) -> Void
    let completion: Completion

    init(
        id: UInt64,
        redirect: Redirect,
        headers: HTTPHeaders,
        credentials: Credentials?,
        context: JobContext,
        requiresImage: Bool,
        partialBody: PartialBody? = nil,
        channel: BodyChannel? = nil,
        filePath: String? = nil,
        onProgress: @escaping @Sendable (FetchProgress) -> Void = { _ in },
        completion: @escaping Completion
    ) {
        self.id = id
        self.redirect = redirect
        self.headers = headers
        self.credentials = credentials
        self.context = context
        self.requiresImage = requiresImage
        self.partialBody = partialBody
        self.channel = channel
        self.filePath = filePath
        self.onProgress = onProgress
        self.completion = completion
    }

    /// Refuses what cannot be sent, whoever made it.
    func validate() throws(EideticError) { try credentials?.validate() }

    var url: String { redirect.url }
    var origin: Origin { redirect.origin }
    var fetchRequest: FetchRequest { redirect.originalRequest }
}
