public import EideticCore

extension Downloader {
    /// Begins to load what `request` names, and gives the answer as soon as it is known to be what was asked for.
    ///
    /// For bodies that are used while they come: previews, large files. The stream takes one of the slots until it ends.
    /// Hooks that look at bodies are not asked. `onFinish` is told when the end has been read, or the stream is given up, and
    /// gets an answer without its bytes.
    ///
    /// - Parameters:
    ///   - request: What to load; `retriesFailed` only overrides the list of failures here.
    ///   - priority: How urgent it is.
    /// - Returns: The answer's head, with its body to be read.
    /// - Throws: As ``fetch(_:priority:onProgress:)`` does; what goes wrong later is thrown by the stream.
    public func stream(
        _ request: FetchRequest,
        priority: LoadPriority = .normal
    ) async throws(EideticError) -> FetchStream {
        try await stream(request, context: JobContext(priority: priority))
    }

    /// Begins to load what `request` names, as urgently as `context` says at any time.
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

    /// What lets reports of progress of one stream through, as rarely as `minimumProgressInterval` says.
    package func makeProgressThrottle() -> ProgressThrottle {
        ProgressThrottle(interval: configuration.minimumProgressInterval, time: configuration.time)
    }

    /// Notes how a stream ended, and tells.
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
            guard let outcome, let head = outcome.head else {
                throw EideticError(.badResponse, message: "\(redirect.url): the server sent no answer")
            }
            let nextRedirect = try redirect.next(
                after: head,
                location: outcome.redirectTarget,
                limit: configuration.maximumRedirects
            )
            guard let nextRedirect else {
                // Complete already, and without a body.
                _ = try redirect.response(head: head, outcome: outcome)
                return makeStream(head: head, redirect: redirect, source: source)
            }
            redirect = nextRedirect
        }
    }

    private func makeStream(head: ResponseHead, redirect: Redirect, source: FetchStream.Source) -> FetchStream {
        FetchStream(head: head, redirect: redirect, source: source) { [self] outcome in
            do throws(EideticError) {
                if let error = outcome.error { throw error }
                recordEnd(
                    of: redirect.originalRequest,
                    result: .success(try redirect.response(head: head, outcome: outcome))
                )
            } catch {
                recordEnd(of: redirect.originalRequest, result: .failure(error))
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
