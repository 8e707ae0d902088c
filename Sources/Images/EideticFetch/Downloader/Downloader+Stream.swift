package import EideticCore
import EideticHTTP

extension Downloader {
    /// Requests the resource of `request`, and returns as soon as the response is known to be acceptable.
    ///
    /// A stream suits bodies that are used while they arrive, such as previews and large files. It occupies one slot
    /// until it ends. The `decryptor` is not called, and the `responseModifier` by ``response(of:bytes:)`` only, so
    /// that with one the stream may have any status. `onFinish` is called then, else when the end has been read; or
    /// when the stream is released, with a response without its body.
    ///
    /// - Parameters:
    ///   - request: The request. Retries end as soon as the response is known to be acceptable.
    ///   - priority: The priority.
    /// - Returns: The head of the response, and its body as an asynchronous sequence.
    /// - Throws: The errors of ``fetch(_:priority:onProgress:)``; the sequence throws later errors.
    package func stream(
        _ request: FetchRequest,
        priority: LoadPriority = .normal
    ) async throws(EideticError) -> FetchStream {
        try await stream(request, context: JobContext(priority: priority))
    }

    /// Requests the resource of `request` with the priority of `context`, which may change at any time.
    package func stream(
        _ request: FetchRequest,
        context: JobContext
    ) async throws(EideticError) -> FetchStream {
        let request = try await modifiedRequest(for: request)
        try fields.validate(request)
        let key = DownloadKey(request)
        let download = Download(
            key: key,
            context: context,
            report: { _ in },
            isStreamed: true,
            partOrigin: parts.origin
        )
        do throws(DownloadFailure) {
            do throws(EideticError) { try exchanges.prepare(request) } catch { throw DownloadFailure(error: error) }
            let reply = try await parts.announcingEnd(of: request, since: download.partOrigin) {
                () async throws(DownloadFailure) in
                try await exchanges.replyAfterRetries(to: download)
            }
            return makeStream(of: reply, since: download.partOrigin)
        } catch {
            recordEnd(of: request, result: .failure(error.error), responses: error.responses)
            throw error.error
        }
    }

    /// Returns the response of a stream that was read to its end, as the hook for responses has modified it.
    ///
    /// - Throws: The error of the hook; with one, `httpStatus` and `notAnImage` for what it returns.
    package func response(of stream: FetchStream, bytes: [UInt8]) async throws(EideticError) -> FetchResponse {
        var outcome = ExchangeOutcome(head: stream.head)
        outcome.body = bytes
        let reply = DownloadReply(redirect: stream.redirect, head: stream.head, outcome: outcome)
        guard hooks.responseModifier != nil else { return hooks.response(of: reply) }
        let request = stream.redirect.originalRequest
        do throws(DownloadFailure) {
            let response = hooks.response(of: try await hooks.modified(reply, isResumed: false))
            do throws(EideticError) {
                if request.requiresImage, response.status != 304 { try hooks.checkImage(response, url: request.url) }
            } catch {
                throw DownloadFailure(error: error, responses: response.origin?.responses ?? [])
            }
            recordEnd(of: request, result: .success(response.withoutBody), responses: [])
            return response
        } catch {
            recordEnd(of: request, result: .failure(error.error), responses: error.responses)
            throw error.error
        }
    }

    /// Loads the resource of a stream that broke off: from the byte at which it stopped if the server allows that,
    /// otherwise from the first.
    ///
    /// - Parameters:
    ///   - stream: The stream.
    ///   - bytes: The part of its body that has arrived.
    ///   - request: The request of the stream.
    ///   - context: The priority, and the cancellation.
    ///   - onProgress: A function that receives the progress of the whole body.
    ///   - onBody: A function that receives each part of the body that arrives, and its position, which is 0 if the
    ///     server sends the body from the first byte; on the engine's thread, so it must return soon.
    /// - Returns: The complete response.
    /// - Throws: The errors of ``fetch(_:priority:onProgress:)``.
    package func resume(
        _ stream: FetchStream,
        after bytes: [UInt8],
        of request: FetchRequest,
        context: JobContext,
        onProgress: @escaping @Sendable (LoadProgress) -> Void,
        onBody: (@Sendable (_ part: UnsafeRawBufferPointer, _ offset: Int) -> Void)? = nil
    ) async throws(EideticError) -> FetchResponse {
        let request = try await modifiedRequest(for: request)
        try fields.validate(request)
        let partialBody = PartialBody(bytes: bytes, head: stream.head, url: stream.effectiveURL)
        let key = DownloadKey(request)
        let download = Download(
            key: key,
            context: context,
            report: onProgress,
            onBody: onBody,
            partOrigin: stream.partOrigin
        )
        do throws(EideticError) {
            try exchanges.prepare(request)
            let response = try await exchanges.load(
                download,
                resuming: request.isGet ? partialBody : nil
            )
            configuration.onFinish?(request, .success(response.withoutShare))
            return response
        } catch {
            configuration.onFinish?(request, .failure(error))
            throw error
        }
    }

    /// Returns whether a stream that broke off is to be resumed, after the delay that the program's own rule wants.
    package func mayResume(_ request: FetchRequest, after error: EideticError) async -> Bool {
        var attempts = Attempts(of: request, configuration: configuration)
        guard configuration.retryRule != nil else { return error.isTransient && attempts.mayRetry }
        let decision = attempts.next(after: DownloadFailure(error: error), random: .random(in: 0..<1)) { true }
        if case .retry(let delay) = decision { await state.wait(for: delay) }
        return decision != .stop
    }

    /// Returns a filter for the progress reports of one download, with the configured interval.
    package func makeProgressThrottle() -> ProgressThrottle {
        ProgressThrottle(interval: configuration.minimumProgressInterval, time: configuration.time)
    }

    /// Records the result of a stream and passes it to `onFinish`.
    private func recordEnd(
        of request: FetchRequest,
        result: Result<FetchResponse, EideticError>,
        responses: [ResponseFreshness.Response]
    ) {
        switch result {
        case .success: failures.recordSuccess(of: request)
        case .failure(let error): failures.record(error, of: request, after: responses)
        }
        configuration.onFinish?(request, result)
    }

    private func makeStream(of reply: DownloadReply, since origin: PartOrigin) -> FetchStream {
        let source = reply.stream ?? makeFinishedSource(with: reply.outcome)
        // Without the reply, which has the source: a source that held itself would not end with its last reader.
        return FetchStream(head: reply.head, redirect: reply.redirect, source: source, partOrigin: origin) {
            [self, redirect = reply.redirect, head = reply.head] outcome in
            // The hook for responses is yet to be called.
            if outcome.error == nil, hooks.responseModifier != nil { return }
            let response = redirect.response(head: head, outcome: outcome)
            recordEnd(
                of: redirect.originalRequest,
                result: outcome.error.map { .failure($0) } ?? .success(response),
                responses: response.origin?.responses ?? []
            )
        }
    }

    /// Creates the source of a stream without a body, for a response from the cache.
    private func makeFinishedSource(with outcome: ExchangeOutcome) -> FetchStream.Source {
        let source = FetchStream.Source(id: exchanges.nextID(), channel: BodyChannel(), scheduler: scheduler)
        source.channel.finish(with: outcome)
        return source
    }
}
