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
        var redirects: [ResponseFreshness.Response]
        /// The exchanges that led to the response; `nil` if no server was asked.
        let origin: ResponseOrigin?
        var effectiveURL = ""
        let step: LoadTrace.Step
        /// The share of the bytes in the limit of all bodies in memory.
        var share: BodyShare?

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
        var conditions = HTTPHeaders()
        var redirectEntries: RedirectEntries?
        /// The part that an earlier load has left.
        var part: DiskCache.Entry?
    }
}

// MARK: Downloads
extension ImageDataSource {
    /// Downloads from a server; the part of a download that fails or is cancelled is kept for the next one.
    nonisolated(nonsending) func download(
        from server: FetchRequest,
        on terms: Terms,
        job: DataJob
    ) async throws(EideticError) -> Response {
        var request = job.load.policy.applied(to: server)
        request.conditions = terms.conditions
        request.redirectEntries = terms.redirectEntries
        parts?.beginDownload(for: job.load)
        var hasPart = terms.part != nil
        if let part = terms.part {
            parts?.offer(part, of: request)
        } else if let parts, terms.conditions.isEmpty {
            hasPart = await parts.offerWritten(request, for: job.load, context: job.context)
        }
        parts?.activity.begin()
        defer { parts?.activity.end() }
        let timer = StepTimer(job.context), fetched: FetchResponse, step: LoadTrace.Step
        do throws(EideticError) {
            if job.load.policy.showsPreviews, request.conditions.isEmpty, downloader.configuration.decryptor == nil {
                let stream = try await downloader.stream(request, context: job.context)
                let download = StreamedDownload(stream, of: request, limit: server.byteLimit, by: downloader, job: job)
                (fetched, step) = try await downloader.parts.announcingEnd(of: stream) {
                    () async throws(EideticError) in
                    try await download.response(timer: timer)
                }
            } else {
                fetched = try await downloader.fetch(request, context: job.context) { job.report(.init(progress: $0)) }
                step = fetched.step(of: timer)
            }
        } catch {
            parts?.endDownload(for: job.load)
            parts?.store(request, for: job.load, longerThan: terms.part?.bytes.count ?? 0)
            throw error
        }
        parts?.endDownload(for: job.load)
        if hasPart { parts?.remove(for: job.load) }
        var response = Response(
            fetched.status == 304 ? nil : fetched.bytes,
            fields: Storability.storableFields(of: fetched.headers.fields),
            origin: fetched.origin,
            at: downloader.configuration.time.now,
            step: step
        )
        response.effectiveURL = fetched.effectiveURL
        response.share = fetched.share
        return response
    }
}

/// A download whose bytes are reported as they arrive.
private struct StreamedDownload: Sendable {
    private let stream: FetchStream
    private let request: FetchRequest
    private let limit: ByteCount
    private let downloader: Downloader
    private let job: DataJob
    private let data: PartialData

    init(_ stream: FetchStream, of request: FetchRequest, limit: ByteCount, by downloader: Downloader, job: DataJob) {
        self.stream = stream
        self.request = request
        self.limit = limit
        self.downloader = downloader
        self.job = job
        data = PartialData(expectedCount: stream.expectedLength, limit: limit)
    }

    /// Reads the stream, and resumes it if it breaks off and is attempted again.
    func response(timer: StepTimer) async throws(EideticError) -> (FetchResponse, LoadTrace.Step) {
        do throws(EideticError) {
            return try await read(timer: timer)
        } catch {
            if await downloader.mayResume(request, after: error) {
                Log.write(.info, category: .fetch, message: "\(request.url): resumed: \(error.message)")
                let response = try await resume()
                return (response, response.step(of: timer))
            }
            if error.isTransient || error.code == .cancelled {
                await downloader.parts.keep(stream, after: data.snapshot)
            }
            throw error
        }
    }

    private func read(timer: StepTimer) async throws(EideticError) -> (FetchResponse, LoadTrace.Step) {
        let throttle = downloader.makeProgressThrottle()
        // A hook may refuse any other response, or make another one of it.
        let isShown = downloader.configuration.acceptableStatus.contains(stream.status)
        let share = downloader.bodyBudget.makeShare(for: job.context)
        var chunks = stream.makeAsyncIterator()
        var received = 0
        while let chunk = try await chunks.next() {
            let mayGrow = share.add(chunk.count)
            // Before a wait, which may be cancelled: the part that is kept then has no hole.
            received = data.append(chunk)
            if !mayGrow { try await share.waitUntilMayGrow() }
            let progress = LoadProgress(received: received, expected: stream.expectedLength)
            job.report(
                .init(progress: progress, isReported: throttle.allows(progress), partialData: isShown ? data : nil)
            )
        }
        share.markComplete()
        var response = try await downloader.response(of: stream, bytes: data.snapshot)
        response.share = share
        let detail = "\(response.status), \(ByteCount(received)), piece by piece"
        return (response, timer.step(.network, detail: detail))
    }

    private func resume() async throws(EideticError) -> FetchResponse {
        // A hook may make another response of it.
        let isShown = downloader.configuration.responseModifier == nil
        let current = Guarded<PartialData?>(data)
        let expectedLength = stream.expectedLength
        return try await downloader.resume(
            stream,
            after: data.snapshot,
            of: request,
            context: job.context,
            onProgress: { job.report(.init(progress: $0)) },
            onBody: { part, offset in
                guard isShown else { return }
                let data = current.withLock { current in
                    if offset == 0 { current = PartialData(expectedCount: expectedLength, limit: limit) }
                    if current?.append(part, at: offset) != true { current = nil }
                    return current
                }
                guard let data else { return }
                let progress = LoadProgress(received: data.count, expected: expectedLength)
                job.report(.init(progress: progress, isReported: false, partialData: data))
            }
        )
    }
}

extension FetchResponse {
    /// Returns the step of a download that delivered its body as a whole, with its status, size and times.
    fileprivate func step(of timer: StepTimer) -> LoadTrace.Step {
        timer.step(.network, waiting: metrics.queued) { [status, size = ByteCount(bytes.count), metrics] in
            let reused = metrics.isReusedConnection ? ", reused connection" : ""
            let first = "first byte after \(Int(metrics.firstByte.inMilliseconds.rounded())) ms"
            return "\(status), \(size), \(metrics.httpVersion)\(reused), \(first)"
        }
    }
}

/// The bytes of an encoded image that have been received so far.
///
/// A reader gets a copy: nothing is decoded from memory to which the network still appends.
final class PartialData: Sendable {
    /// The number of all bytes; `nil` if the server has not stated it.
    let expectedCount: Int?
    private let bytes: Guarded<[UInt8]>

    init(expectedCount: Int?, limit: ByteCount) {
        self.expectedCount = expectedCount
        var empty: [UInt8] = []
        empty.reserveCapacity(min(expectedCount ?? 65_536, limit.bytes, 16_777_216))
        bytes = Guarded(empty)
    }

    /// Appends received bytes; returns the number of bytes received so far.
    func append(_ chunk: [UInt8]) -> Int {
        bytes.withLock { bytes in
            bytes.append(contentsOf: chunk)
            return bytes.count
        }
    }

    /// Appends received bytes if they begin where the bytes so far end; returns `false` if they do not.
    func append(_ part: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        bytes.withLock { bytes in
            guard offset == bytes.count else { return false }
            bytes.append(contentsOf: part)
            return true
        }
    }

    /// The first bytes, which suffice to detect the format.
    var signature: [UInt8] { prefix(ImageFormat.maximumSignatureLength) }

    /// Returns the first bytes, at most `count`.
    func prefix(_ count: Int) -> [UInt8] { bytes.withLock { Array($0.prefix(count)) } }

    var count: Int { bytes.withLock { $0.count } }

    /// Returns the bytes received so far behind the first `count`.
    func bytes(from count: Int) -> [UInt8] { bytes.withLock { Array($0.dropFirst(count)) } }

    /// Calls `body` with the bytes received so far; no more are received meanwhile.
    func withUnsafeBytes<Value: Sendable>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        bytes.withLock { bytes in bytes.withUnsafeBytes { body($0) } }
    }

    /// A copy of the bytes received so far.
    ///
    /// - Complexity: O(*n*), once, if more bytes are appended afterwards.
    var snapshot: [UInt8] { bytes.withLock { $0 } }
}
