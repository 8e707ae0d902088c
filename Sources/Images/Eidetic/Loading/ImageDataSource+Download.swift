import EideticCore
import EideticHTTP
import EideticFetch
import EideticStore

extension ImageDataSource {
    /// Downloads from a server.
    func download(
        from server: FetchRequest,
        on terms: Terms,
        job: DataJob
    ) async throws(EideticError) -> Response {
        var request = job.load.policy.transport.applied(to: server)
        (request.conditions, request.redirectEntries) = (terms.conditions, terms.redirectEntries)
        let timer = StepTimer(job.context)
        if job.load.policy.showsPreviews, request.conditions.isEmpty,
            downloader.configuration.decryptor == nil
        {
            let stream = try await downloader.stream(request, context: job.context)
            let data = PartialData(expectedCount: stream.expectedLength, limit: server.byteLimit)
            do throws(EideticError) {
                return try await response(of: stream, into: data, from: server, job: job, timer: timer)
            } catch  where error.isTransient && mayRestart(request) {
                Log.write(.info, category: .fetch, message: "\(request.url): resumed: \(error.message)")
                let response = try await resume(stream, after: data, of: request, for: server, job: job)
                return self.response(response, from: server, timer: timer)
            }
        }
        let response = try await downloader.fetch(request, context: job.context) { job.report(.init(progress: $0)) }
        return self.response(response, from: server, timer: timer)
    }

    /// Resumes a stream, and reports the bytes received so far.
    private func resume(
        _ stream: FetchStream,
        after data: PartialData,
        of request: FetchRequest,
        for server: FetchRequest,
        job: DataJob
    ) async throws(EideticError) -> FetchResponse {
        // A hook may make another response of it.
        let isShown = downloader.configuration.responseModifier == nil
        let current = Guarded<PartialData?>(data), expectedLength = stream.expectedLength
        return try await downloader.resume(
            stream,
            after: data.snapshot,
            of: request,
            context: job.context,
            onProgress: { job.report(.init(progress: $0)) },
            onBody: { part, offset in
                guard isShown else { return }
                let data = current.withLock { current in
                    if offset == 0 { current = PartialData(expectedCount: expectedLength, limit: server.byteLimit) }
                    if current?.append(part, at: offset) != true { current = nil }
                    return current
                }
                guard let data else { return }
                let progress = FetchProgress(received: data.count, expected: expectedLength)
                job.report(.init(progress: progress, isReported: false, partialData: data))
            }
        )
    }

    private func mayRestart(_ request: FetchRequest) -> Bool {
        request.ignoresFailureList || downloader.configuration.alwaysRetries
    }

    /// Reads a stream, and reports the bytes received so far.
    private func response(
        of stream: FetchStream,
        into data: PartialData,
        from server: FetchRequest,
        job: DataJob,
        timer: StepTimer
    ) async throws(EideticError) -> Response {
        let throttle = downloader.makeProgressThrottle()
        // A hook may refuse any other response, or make another one of it.
        let isShown = downloader.configuration.acceptableStatus.contains(stream.status)
        let share = downloader.bodyBudget.makeShare(for: job.context)
        var chunks = stream.makeAsyncIterator(), received = 0
        while let chunk = try await chunks.next() {
            if !share.add(chunk.count) { try await share.waitUntilMayGrow() }
            received = data.append(chunk)
            let progress = FetchProgress(received: received, expected: stream.expectedLength)
            job.report(
                .init(progress: progress, isReported: throttle.allows(progress), partialData: isShown ? data : nil)
            )
        }
        share.markComplete()
        var response = try await downloader.response(of: stream, bytes: data.snapshot)
        response.share = share
        let step = timer.step(.network, detail: "\(response.status), \(ByteCount(received)), piece by piece")
        return self.response(response, from: server, step: step)
    }

    /// Returns the response of a download that delivered its body as a whole.
    private func response(_ response: FetchResponse, from server: FetchRequest, timer: StepTimer) -> Response {
        let step = timer.step(.network, detail: response.detail, waiting: response.metrics.queued)
        return self.response(response, from: server, step: step)
    }

    private func response(_ fetched: FetchResponse, from server: FetchRequest, step: LoadTrace.Step) -> Response {
        var response = Response(
            fetched.status == 304 ? nil : fetched.bytes,
            fields: fetched.headers.storableFields,
            origin: fetched.origin,
            at: downloader.configuration.time.now,
            step: step
        )
        response.effectiveURL = fetched.effectiveURL
        response.server = server
        response.share = fetched.share
        return response
    }
}

extension BodyBudget {
    /// Returns the share of bytes that are complete and wait for a decoder.
    func makeCompleteShare(of bytes: [UInt8], for context: JobContext) -> BodyShare {
        let share = makeShare(for: context)
        share.add(bytes.count)
        share.markComplete()
        return share
    }
}

extension HTTPHeaders {
    fileprivate var storableFields: [HTTPField] {
        Storability.storableFields(of: fields)
    }
}

extension FetchResponse {
    /// The status, size and times of a download, for a trace.
    fileprivate var detail: String {
        let reused = metrics.isReusedConnection ? ", reused connection" : ""
        let first = "first byte after \(Int(metrics.firstByte.inMilliseconds.rounded())) ms"
        return "\(status), \(ByteCount(bytes.count)), \(metrics.httpVersion)\(reused), \(first)"
    }
}
