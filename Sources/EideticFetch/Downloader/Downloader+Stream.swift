public import EideticCore

extension Downloader {
    /// Requests the resource of `request`, and returns as soon as the response is known to be acceptable.
    ///
    /// A stream suits bodies that are used while they arrive, such as previews and large files. It occupies one slot
    /// until it ends. Hooks that transform bodies are not called. `onFinish` is called when the end has been read or
    /// the stream is released, with a response without its body.
    ///
    /// - Parameters:
    ///   - request: The request; ``FetchRequest/ignoresFailureList`` does not enable retries here.
    ///   - priority: The priority.
    /// - Returns: The head of the response, and its body as an asynchronous sequence.
    /// - Throws: The errors of ``fetch(_:priority:onProgress:)``; the sequence throws later errors.
    public func stream(
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
        var request = request
        if let modify = configuration.requestModifier { request = try await modify(request) }
        try validate(request)
        do throws(EideticError) {
            try checkOnline(request)
            if !request.ignoresFailureList { try failures.check(request) }
            return try await openStream(request, context: context)
        } catch {
            recordEnd(of: request, result: .failure(error))
            throw error
        }
    }

    /// Returns a filter for the progress reports of one download, with the configured interval.
    package func makeProgressThrottle() -> ProgressThrottle {
        ProgressThrottle(interval: configuration.minimumProgressInterval, time: configuration.time)
    }

    /// Records the result of a stream and passes it to `onFinish`.
    private func recordEnd(of request: FetchRequest, result: Result<FetchResponse, EideticError>) {
        switch result {
        case .success: if request.ignoresFailureList { failures.remove(request) }
        case .failure(let error): failures.record(error, for: request)
        }
        configuration.onFinish?(request, result)
    }

    private func openStream(_ request: FetchRequest, context: JobContext) async throws(EideticError) -> FetchStream {
        var redirect = Redirect(DownloadKey(request: request, filePath: nil))
        while true {
            let isProbe = try state.admit(redirect.origin, isForced: request.ignoresFailureList)
            let source = FetchStream.Source(id: nextID(), channel: BodyChannel(), scheduler: scheduler)
            enqueue(redirect, source: source, context: context)
            let outcome = await withTaskCancellationHandler {
                await source.channel.waitForHead()
            } onCancel: {
                scheduler.cancel(source.id)
            }
            if let head = source.channel.head {
                if isProbe { state.recordResponse(from: redirect.origin) }
                return makeStream(head: head, redirect: redirect, source: source)
            }
            if let error = outcome?.error { throw error }
            guard let outcome, let head = outcome.head else { throw .noResponse(url: redirect.url) }
            let next = try redirect.next(
                after: head,
                location: outcome.redirectTarget,
                limit: configuration.maximumRedirects
            )
            guard let next else {
                // The response is complete already, without a body.
                _ = try redirect.response(head: head, outcome: outcome)
                return makeStream(head: head, redirect: redirect, source: source)
            }
            redirect = next
        }
    }

    private func makeStream(head: ResponseHead, redirect: Redirect, source: FetchStream.Source) -> FetchStream {
        FetchStream(head: head, redirect: redirect, source: source) { [self] outcome in
            let request = redirect.originalRequest
            do throws(EideticError) {
                if let error = outcome.error { throw error }
                recordEnd(of: request, result: .success(try redirect.response(head: head, outcome: outcome)))
            } catch {
                recordEnd(of: request, result: .failure(error))
            }
        }
    }

    private func enqueue(_ redirect: Redirect, source: FetchStream.Source, context: JobContext) {
        let (state, channel) = (state, source.channel)
        let request = ExchangeRequest(
            id: source.id,
            redirect: redirect,
            headers: headers(for: redirect, resuming: nil),
            credentials: redirect.credentials ?? configuration.credentials?(redirect.origin),
            context: context,
            requiresImage: redirect.originalRequest.requiresImage,
            channel: channel
        ) { outcome in
            state.recordExchange(redirect, outcome: outcome)
            return { channel.finish(with: outcome) }
        }
        scheduler.enqueue(request)
        if Task.isCancelled { scheduler.cancel(source.id) }
    }
}
