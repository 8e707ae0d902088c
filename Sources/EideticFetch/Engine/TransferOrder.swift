import EideticCore

/// One exchange with a server, as the engine is asked for it: no redirects, no retries.
final class TransferOrder: Sendable {
    /// Called once, on the engine's thread or on that of the one who cancels; gives what wakes the one who waits.
    typealias Completion = @Sendable (TransferOutcome) -> @Sendable () -> Void

    let id: UInt64
    let hop: Hop
    /// All fields that go out, the downloader's own included.
    let headers: HTTPHeaders
    let credentials: Credentials?
    /// Says whether it is still wanted, and how urgently.
    let context: WorkContext
    let requiresPicture: Bool
    /// What is there already; the rest was asked for.
    let partial: PartialBody?
    /// Where the body goes piece by piece; `nil` where it is collected.
    let channel: BodyChannel?
    /// The file that the body goes to piece by piece; `nil` where it is collected.
    let file: String?
    /// Called on the engine's thread.
    let onProgress: @Sendable (FetchProgress) -> Void
    let completion: Completion

    init(
        id: UInt64,
        hop: Hop,
        headers: HTTPHeaders,
        credentials: Credentials?,
        context: WorkContext,
        requiresPicture: Bool,
        partial: PartialBody? = nil,
        channel: BodyChannel? = nil,
        file: String? = nil,
        onProgress: @escaping @Sendable (FetchProgress) -> Void = { _ in },
        completion: @escaping Completion
    ) {
        self.id = id
        self.hop = hop
        self.headers = headers
        self.credentials = credentials
        self.context = context
        self.requiresPicture = requiresPicture
        self.partial = partial
        self.channel = channel
        self.file = file
        self.onProgress = onProgress
        self.completion = completion
    }

    /// Refuses what cannot be sent, whoever made it.
    func validate() throws(EideticError) { try credentials?.validate() }

    var url: String { hop.url }
    var origin: Origin { hop.origin }
    var request: FetchRequest { hop.request }
}
