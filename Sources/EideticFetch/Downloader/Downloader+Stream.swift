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
        try await stream(request, context: WorkContext(priority: priority))
    }

    /// Begins to load what `request` names, as urgently as `context` says at any time.
    package func stream(
        _ request: FetchRequest,
        context: WorkContext
    ) async throws(EideticError) -> FetchStream {
        var request = request
        if let modify = configuration.requestModifier { request = try await modify(request) }
        try validate(request)
        do throws(EideticError) {
            try checkOnline(request)
            if !request.retriesFailed { try failures.check(request) }
            return try await begin(request, context)
        } catch {
            ended(request, .failure(error))
            throw error
        }
    }

    /// What lets reports of progress of one stream through, as rarely as `minimumProgressInterval` says.
    package func progressThrottle() -> ProgressThrottle {
        ProgressThrottle(interval: configuration.minimumProgressInterval, time: configuration.time)
    }

    /// Notes how a stream ended, and tells.
    private func ended(_ request: FetchRequest, _ result: Result<FetchResponse, EideticError>) {
        switch result {
        case .success: if request.retriesFailed { failures.remove(request) }
        case .failure(let error): failures.note(error, for: request)
        }
        configuration.onFinish?(request, result)
    }

    private func begin(_ request: FetchRequest, _ context: WorkContext) async throws(EideticError) -> FetchStream {
        var hop = Hop(FetchIdentity(request, file: nil))
        while true {
            let isProbe = try state.admit(hop.origin, insists: request.retriesFailed)
            let source = FetchStream.Source(nextID(), BodyChannel(), scheduler)
            enqueue(hop, source, context)
            let outcome = await withTaskCancellationHandler {
                await source.channel.start()
            } onCancel: {
                scheduler.cancel(source.id)
            }
            if let head = source.channel.head {
                if isProbe { state.noteAnswer(of: hop.origin) }
                return stream(head, hop, source)
            }
            if let error = outcome?.error { throw error }
            guard let outcome, let head = outcome.head else {
                throw EideticError(.badResponse, "\(hop.url): the server sent no answer")
            }
            let next = try hop.following(head, to: outcome.redirect, limit: configuration.redirectLimit)
            guard let next else {
                // Complete already, and without a body.
                _ = try hop.response(head, outcome)
                return stream(head, hop, source)
            }
            hop = next
        }
    }

    private func stream(_ head: ResponseHead, _ hop: Hop, _ source: FetchStream.Source) -> FetchStream {
        FetchStream(head, hop, source) { [self] outcome in
            do throws(EideticError) {
                if let error = outcome.error { throw error }
                ended(hop.request, .success(try hop.response(head, outcome)))
            } catch {
                ended(hop.request, .failure(error))
            }
        }
    }

    private func enqueue(_ hop: Hop, _ source: FetchStream.Source, _ context: WorkContext) {
        let (state, channel) = (state, source.channel)
        let order = TransferOrder(
            id: source.id,
            hop: hop,
            headers: headers(for: hop, nil),
            credentials: hop.credentials ?? configuration.credentials?(hop.origin),
            context: context,
            requiresPicture: hop.request.requiresPicture,
            channel: channel
        ) { outcome in
            state.note(hop, outcome)
            return { channel.finish(outcome) }
        }
        scheduler.enqueue(order)
        if Task.isCancelled { scheduler.cancel(source.id) }
    }
}
