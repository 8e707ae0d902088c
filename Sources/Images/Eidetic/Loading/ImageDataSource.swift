import EideticCodecs
import EideticCore
import EideticHTTP
import EideticFetch
import EideticStore

/// The place that encoded bytes come from if no cache has them: a server, a file, memory, or a function of the caller.
struct ImageDataSource: Sendable {
    /// The bytes of a resource, or the confirmation that the cached ones are still valid.
    struct Response: Sendable {
        /// The bytes; those of an entry if a server confirmed them, and none before that entry is known.
        var bytes: [UInt8]
        /// A Boolean value indicating whether a server confirmed bytes instead of sending them.
        let isConfirmation: Bool
        /// The entry under the key of the resource that a server has confirmed.
        var confirmed: StoredEntry?
        /// The last response, with the fields that are stored.
        var final: ResponseFreshness.Response
        /// The redirects that led to it.
        var redirects: [ResponseFreshness.Response]
        /// The exchanges that led to the response; `nil` if no server was asked.
        let origin: ResponseOrigin?
        /// The URL of the response, after all redirects.
        var effectiveURL = ""
        let step: LoadTrace.Step
        /// The server that sent the response, as the request names it.
        var server: FetchRequest?
        /// The share of the bytes in the limit of all bodies in memory.
        var share: BodyShare?

        /// A Boolean value indicating whether the bytes came over the network.
        var isTransferred: Bool { !isConfirmation && step.stage == .network }

        /// Creates the response of a server, or of another place, which has no exchanges.
        init(
            _ bytes: [UInt8]?,
            fields: [HTTPField] = [],
            origin: ResponseOrigin? = nil,
            at now: Timestamp,
            step: LoadTrace.Step
        ) {
            self.bytes = bytes ?? []
            isConfirmation = bytes == nil
            let responses = origin?.responses ?? []
            final = responses.last ?? .init(fields: [], requestTime: now, responseTime: now)
            final.fields = fields
            redirects = Array(responses.dropLast())
            self.origin = origin
            self.step = step
        }
    }

    let downloader: Downloader
    /// The parts of interrupted downloads on disk; `nil` if it has none.
    let parts: PartStore?
    private let byteLimit: ByteCount
    private let files = WorkPool(name: "eidetic files", maximumThreadCount: 4, isForFiles: true)

    init(configuration: ImagePipeline.Configuration, parts: PartStore?) {
        downloader = configuration.downloader
        self.parts = parts
        byteLimit = configuration.decodeLimits.encodedBytes
    }

    /// Returns the bytes of a job's resource.
    nonisolated(nonsending) func response(
        for job: DataJob,
        on terms: Terms = Terms()
    ) async throws(EideticError) -> Response {
        let timer = StepTimer(job.context)
        switch job.request.resource.kind {
        case .remote(let server): return try await download(from: server, on: terms, job: job)
        case .file(let file):
            let limit = byteLimit
            try await downloader.bodyBudget.waitForRoom(for: job.context)
            let bytes = try await files.run(in: job.context) { _ throws(EideticError) in try file.read(limit: limit) }
            var response = local(bytes, from: "file", timer: timer)
            response.share = downloader.bodyBudget.makeCompleteShare(of: bytes, for: job.context)
            return response
        case .bytes(let bytes): return local(bytes, from: "given", timer: timer)
        case .provider(_, let provide): return local(try await provide(), from: "provided", timer: timer)
        case .invalid(_, let error): throw error
        }
    }

    private func local(_ bytes: [UInt8], from origin: String, timer: StepTimer) -> Response {
        let step = timer.step(.origin, detail: "\(origin), \(ByteCount(bytes.count))")
        return Response(bytes, at: downloader.configuration.time.now, step: step)
    }

    /// Returns a file in its present state, which a thread of the source looks up.
    func examined(_ file: LocalFile) async throws(EideticError) -> LocalFile {
        try await files.run { _ throws(EideticError) in try file.examined() }
    }

    /// The cached bytes that a download may confirm or complete instead of loading others.
    struct Terms: Sendable {
        /// The header fields by which a server can confirm cached bytes.
        var conditions = HTTPHeaders()
        /// The entries of redirects' targets.
        var redirectEntries: RedirectEntries?
        /// The part that an earlier load has left.
        var part: DiskCache.Entry?
    }
}
