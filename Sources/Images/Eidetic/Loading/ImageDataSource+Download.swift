import EideticCore
import EideticHTTP
import EideticFetch
import EideticStore

extension ImageDataSource {
    /// Downloads from a server; the part of a download that fails or is cancelled is kept for the next one.
    nonisolated(nonsending) func download(
        from server: FetchRequest,
        on terms: Terms,
        job: DataJob
    ) async throws(EideticError) -> Response {
        var request = job.load.policy.transport.applied(to: server)
        request.conditions = terms.conditions
        request.redirectEntries = terms.redirectEntries
        parts?.beginDownload(for: job.load)
        var hasPart = terms.part != nil
        if let part = terms.part {
            parts?.offer(part, of: request)
        } else if let parts, terms.conditions.isEmpty {
            hasPart = await parts.offerWritten(request, for: job.load, context: job.context)
        }
        parts?.begin()
        defer { parts?.end() }
        do throws(EideticError) {
            let response = try await perform(request, from: server, job: job)
            parts?.endDownload(for: job.load)
            if hasPart { parts?.remove(for: job.load) }
            return response
        } catch {
            parts?.endDownload(for: job.load)
            parts?.store(request, for: job.load, longerThan: terms.part?.bytes.count ?? 0)
            throw error
        }
    }

    nonisolated(nonsending) private func perform(
        _ request: FetchRequest,
        from server: FetchRequest,
        job: DataJob
    ) async throws(EideticError) -> Response {
        let timer = StepTimer(job.context)
        if job.load.policy.showsPreviews, request.conditions.isEmpty,
            downloader.configuration.decryptor == nil
        {
            let stream = try await downloader.stream(request, context: job.context)
            return try await downloader.parts.announcingEnd(of: stream) { () async throws(EideticError) in
                try await self.response(of: stream, to: request, from: server, job: job, timer: timer)
            }
        }
        let response = try await downloader.fetch(request, context: job.context) { job.report(.init(progress: $0)) }
        return self.response(response, from: server, timer: timer)
    }

    /// Reads a stream, and resumes it if it breaks off and is attempted again.
    private func response(
        of stream: FetchStream,
        to request: FetchRequest,
        from server: FetchRequest,
        job: DataJob,
        timer: StepTimer
    ) async throws(EideticError) -> Response {
        let data = PartialData(expectedCount: stream.expectedLength, limit: server.byteLimit)
        do throws(EideticError) {
            return try await response(of: stream, into: data, from: server, job: job, timer: timer)
        } catch {
            if await downloader.mayResume(request, after: error) {
                Log.write(.info, category: .fetch, message: "\(request.url): resumed: \(error.message)")
                let response = try await resume(stream, after: data, of: request, for: server, job: job)
                return self.response(response, from: server, timer: timer)
            }
            if error.isTransient || error.code == .cancelled {
                await downloader.parts.keep(stream, after: data.snapshot)
            }
            throw error
        }
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
                    if offset == 0 { current = PartialData(expectedCount: expectedLength, limit: server.byteLimit) }
                    if current?.append(part, at: offset) != true { current = nil }
                    return current
                }
                guard let data else { return }
                let progress = LoadProgress(received: data.count, expected: expectedLength)
                job.report(.init(progress: progress, isReported: false, partialData: data))
            }
        )
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
