import EideticCodecs
import EideticCore
import EideticFetch
import EideticStore

/// What came from where a picture comes from.
struct ImageDataSourceResponse: Sendable {
    /// The bytes; none where the server said that what the caller has is still right.
    let bytes: [UInt8]?
    /// The fields of the HTTP answer that are kept with the bytes.
    let fields: [HTTPField]
    var step: LoadTrace.Step
    /// The server that sent them, as the request names it.
    var remote: FetchRequest?

    /// Whether the bytes came over the network.
    var isTransferred: Bool { bytes != nil && step.stage == .network }
}

/// Reads the bytes of a picture where they come from: server, file, memory, or the caller's function.
struct ImageDataSource: Sendable {
    private let downloader: Downloader
    private let byteLimit: ByteCount
    private let files = WorkPool(name: "eidetic files", maximumThreadCount: 4)

    init(_ configuration: ImagePipeline.Configuration) {
        downloader = configuration.downloader
        byteLimit = configuration.decodeLimits.encodedBytes
    }

    /// `conditions` are header fields by which the server can say that nothing has changed.
    func answer(
        for request: ImageRequest,
        conditions: HTTPHeaders = [:],
        _ context: JobContext,
        _ report: @escaping @Sendable (DataChunk) -> Void
    ) async throws(EideticError) -> ImageDataSourceResponse {
        let timer = StepTimer()
        switch request.resource {
        case .remote(let remote):
            return try await download(remote, conditions, request.options, context, report)
        case .firstOf, .candidates:
            return try await downloadFirst(of: request.resource.remotes, conditions, request.options, context, report)
        case .file(let file):
            let limit = byteLimit
            let bytes = try await files.run(in: context) { _ throws(EideticError) in try file.read(limit: limit) }
            return ImageDataSourceResponse(
                bytes: bytes,
                fields: [],
                step: timer.step(.origin, detail: "file, \(ByteCount(bytes.count))")
            )
        case .bytes(let bytes):
            return ImageDataSourceResponse(
                bytes: bytes,
                fields: [],
                step: timer.step(.origin, detail: "given, \(ByteCount(bytes.count))")
            )
        case .provider(_, let provide):
            let bytes = try await provide()
            let step = timer.step(.origin, detail: "provided, \(ByteCount(bytes.count))")
            return ImageDataSourceResponse(bytes: bytes, fields: [], step: step)
        }
    }

    /// Remembers that what a server sends is no picture.
    func note(_ error: EideticError, of remote: FetchRequest, _ options: ImageOptions) {
        downloader.failures.record(error, for: remote.with(options))
    }

    private func download(
        _ remote: FetchRequest,
        _ conditions: HTTPHeaders,
        _ options: ImageOptions,
        _ context: JobContext,
        _ report: @escaping @Sendable (DataChunk) -> Void
    ) async throws(EideticError) -> ImageDataSourceResponse {
        let plain = remote.with(options)
        // The downloader asks for what it is given: with conditions, and as its hook has changed it.
        if !plain.ignoresFailureList { try downloader.failures.check(plain) }
        var conditional = plain
        conditional.headers = plain.headers.merging(conditions)
        var answer = try await answer(conditional, isPlain: conditions.fields.isEmpty, options, context, report)
        if plain.ignoresFailureList { downloader.failures.remove(plain) }
        answer.remote = remote
        return answer
    }

    private func answer(
        _ remote: FetchRequest,
        isPlain: Bool,
        _ options: ImageOptions,
        _ context: JobContext,
        _ report: @escaping @Sendable (DataChunk) -> Void
    ) async throws(EideticError) -> ImageDataSourceResponse {
        let timer = StepTimer()
        if options.contains(.progressive), isPlain, !changesBodies {
            do throws(EideticError) {
                return try await stream(remote, context, report)
            } catch  where error.isTransient && (remote.ignoresFailureList || downloader.configuration.alwaysRetries) {
                Log.write(.info, category: .fetch, message: "\(remote.url): begun anew: \(error.message)")
            }
        }
        let response = try await downloader.fetch(remote, context: context) { report(DataChunk(progress: $0)) }
        return ImageDataSourceResponse(
            bytes: response.status == 304 ? nil : response.bytes,
            fields: Storability.storableFields(
                of: response.headers.fields.map { .init(name: $0.name, value: $0.value) }
            ),
            step: timer.step(.network, detail: response.note)
        )
    }

    /// Whether hooks look at whole bodies, so that there is nothing to be shown before.
    private var changesBodies: Bool {
        downloader.configuration.responseModifier != nil || downloader.configuration.decryptor != nil
    }

    /// Downloads and lets others look at what is there while it comes.
    private func stream(
        _ remote: FetchRequest,
        _ context: JobContext,
        _ report: @escaping @Sendable (DataChunk) -> Void
    ) async throws(EideticError) -> ImageDataSourceResponse {
        let timer = StepTimer()
        let stream = try await downloader.stream(remote, context: context)
        let bytes = PartialData(expected: stream.expectedLength, limit: remote.byteLimit)
        let throttle = downloader.makeProgressThrottle()
        var pieces = stream.makeAsyncIterator(), received = 0
        while let piece = try await pieces.next() {
            received = bytes.append(piece)
            let progress = FetchProgress(received: received, expected: stream.expectedLength)
            report(DataChunk(progress: progress, isReported: throttle.allows(progress), bytes: bytes))
        }
        return ImageDataSourceResponse(
            bytes: stream.status == 304 ? nil : bytes.snapshot,
            fields: Storability.storableFields(of: stream.headers.fields.map { .init(name: $0.name, value: $0.value) }),
            step: timer.step(.network, detail: "\(stream.status), \(ByteCount(received)), piece by piece")
        )
    }

    /// Asks one after the other until one answers; throws the last one's error.
    private func downloadFirst(
        of remotes: [FetchRequest],
        _ conditions: HTTPHeaders,
        _ options: ImageOptions,
        _ context: JobContext,
        _ report: @escaping @Sendable (DataChunk) -> Void
    ) async throws(EideticError) -> ImageDataSourceResponse {
        var failures: [EideticError] = []
        for remote in remotes {
            do throws(EideticError) {
                var answer = try await download(remote, conditions, options, context, report)
                answer.step = answer.step.after(failures)
                return answer
            } catch  where error.code != .cancelled {
                failures.append(error)
            }
        }
        throw failures.last ?? EideticError(.invalidArgument, message: "a list of URLs has none")
    }
}

extension LoadTrace.Step {
    /// The same, which says what failed before it.
    fileprivate func after(_ failures: [EideticError]) -> LoadTrace.Step {
        LoadTrace.Step(
            stage: stage,
            duration: duration,
            detail: ([detail] + failures.map { "after \($0)" }).joined(separator: ", ")
        )
    }
}

extension FetchRequest {
    /// The request as the options of a picture have it.
    fileprivate func with(_ options: ImageOptions) -> FetchRequest {
        var request = self
        if options.contains(.allowInvalidCertificates) { request.allowsInvalidCertificates = true }
        if options.contains(.retryFailed) { request.ignoresFailureList = true }
        if options.contains(.handleCookies) { request.usesCookies = true }
        return request
    }
}

extension FetchResponse {
    /// What a record says of a download.
    fileprivate var note: String {
        let reused = metrics.isReusedConnection ? ", reused connection" : ""
        let wait = "\(Int(metrics.queued.inMilliseconds.rounded())) ms in the queue"
        let first = "first byte after \(Int(metrics.firstByte.inMilliseconds.rounded())) ms"
        return "\(status), \(ByteCount(bytes.count)), \(metrics.httpVersion)\(reused), \(wait), \(first)"
    }
}
