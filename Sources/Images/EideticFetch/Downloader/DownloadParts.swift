package import EideticCore
import EideticHTTP

/// The parts of bodies that outlive their downloads.
package struct DownloadParts: Sendable {
    /// The parts that earlier downloads have left, in memory.
    package let memory: PartialBodies
    /// The parts in the directory of the configuration; `nil` without one.
    let stored: PartialBodyCache?
    let fields: RequestFields

    init(_ configuration: Downloader.Configuration, fields: RequestFields, pool: WorkPool) {
        self.fields = fields
        memory = PartialBodies(time: configuration.time, clock: configuration.retryClock)
        stored = PartialBodyStore(configuration).map { store in
            PartialBodyCache(
                store: store,
                pool: pool,
                workGroup: BackgroundWorkGroup(named: "eidetic downloads", provider: configuration.environment)
            )
        }
    }

    /// The moment at which a download begins.
    var origin: PartOrigin { PartOrigin(generation: memory.generation, headers: fields.all) }

    /// Returns the key of the part of a request: with all fields and credentials that are sent, so that users do not
    /// share parts; by default with the common header fields of now.
    func key(of request: FetchRequest, with headers: HTTPHeaders? = nil) -> String {
        fields.sentRequest(of: request, with: headers).identityText
    }

    /// Returns the key where a hook of the program is called for it, which must not happen within a cancellation;
    /// otherwise `nil`, as most downloads are not cancelled.
    func earlyKey(of request: FetchRequest, with headers: HTTPHeaders) -> String? {
        fields.credentials == nil ? nil : key(of: request, with: headers)
    }

    /// Keeps the part of a body for the next download of the same request, in memory and in the configured directory.
    func keep(_ part: PartialBody?, of request: FetchRequest, since origin: PartOrigin) async {
        guard let stored else { return keepInMemory(part, of: request, since: origin) }
        guard let part, part.bytes.count >= PartialBodies.minimumSize,
            isKept(part, of: request, with: origin.headers)
        else { return }
        await stored.insert(part, for: fields.sentRequest(of: request, with: origin.headers))
    }

    /// Keeps the part of a body in memory at once.
    func keepInMemory(_ part: PartialBody?, of request: FetchRequest, since origin: PartOrigin) {
        guard let part, isKept(part, of: request, with: origin.headers) else { return }
        memory.insert(part, for: key(of: request, with: origin.headers), since: origin.generation)
    }

    /// Removes and returns the part that an earlier download of a request has left.
    func take(of request: FetchRequest) async -> PartialBody? {
        guard mayHaveParts(request) else { return nil }
        if !memory.isEmpty, let part = await memory.part(for: key(of: request), isRemoved: true) { return part }
        return await stored?.remove(for: fields.sentRequest(of: request))
    }

    /// Returns whether an earlier download of a request may have left a part.
    func mayHave(of request: FetchRequest) -> Bool {
        guard mayHaveParts(request) else { return false }
        return stored != nil || !memory.isEmpty && memory.mayHavePart(for: key(of: request))
    }

    private func mayHaveParts(_ request: FetchRequest) -> Bool {
        request.isGet && request.keepsPart && !request.isSingleExchange
    }

    /// Returns whether a part may outlive its download.
    ///
    /// The server must accept ranges, and no directive may forbid to store the response; one that is for a single user
    /// is not kept if the request has credentials or cookies.
    private func isKept(_ part: PartialBody, of request: FetchRequest, with headers: HTTPHeaders? = nil) -> Bool {
        guard mayHaveParts(request), !request.usesCookies,
            // What a redirect says about storing is known to the complete response only.
            part.exactTarget == PartialBody.exactTarget(of: request.url),
            part.headers["Accept-Ranges"]?.lowercased() == "bytes",
            Storability.isPermitted(status: 200, fields: part.headers.fields, request: request.headers.fields)
        else { return false }
        let sent = fields.sentRequest(of: request, with: headers)
        let hasCredentials =
            sent.credentials != nil || ["Authorization", "Cookie"].contains { sent.headers[$0] != nil }
        return !hasCredentials || !CacheControl(part.headers.fields).isPrivate
    }
}

// MARK: For a cache
extension DownloadParts {
    /// Keeps a part that a cache has, for the next download of a request.
    package func offer(_ part: PartialBody, of request: FetchRequest) {
        guard isKept(part, of: request) else { return }
        memory.offer(part, for: key(of: request))
    }

    /// Returns the part that a download of a request has left, after it has ended; `nil` at once if there is none.
    package func part(of request: FetchRequest) async -> PartialBody? {
        await memory.part(for: key(of: request), isRemoved: false)
    }

    /// Returns whether a download of a request has left a part, or is about to.
    package func has(of request: FetchRequest) -> Bool {
        !memory.isEmpty && memory.mayHavePart(for: key(of: request))
    }

    /// Removes a part from memory; returns `false` if it is not there any more, or has been replaced.
    package func remove(_ part: PartialBody, of request: FetchRequest) -> Bool {
        memory.remove(part, for: key(of: request))
    }

    /// Runs a function that reads a stream; if it is cancelled, downloads of the same request wait for its end.
    package func announcingEnd<Value: Sendable>(
        of stream: FetchStream,
        during body: () async throws(EideticError) -> Value
    ) async throws(EideticError) -> Value {
        try await announcingEnd(of: stream.redirect.originalRequest, since: stream.partOrigin, during: body)
    }

    /// Runs a function that loads a request; if it is cancelled, downloads of the same request wait for its end.
    func announcingEnd<Value: Sendable, Failure: Error>(
        of request: FetchRequest,
        since origin: PartOrigin,
        during body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let end = CancelledEnd(in: memory)
        let knownKey = earlyKey(of: request, with: origin.headers)
        defer { end.end() }
        return try await withTaskCancellationHandler { () async -> Result<Value, Failure> in
            do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
        } onCancel: {
            end.announce(for: knownKey ?? key(of: request, with: origin.headers))
        }.get()
    }

    /// Keeps the part of a stream that broke off or was cancelled.
    package func keep(_ stream: FetchStream, after bytes: [UInt8]) async {
        let request = stream.redirect.originalRequest
        guard request.headers["Range"] == nil else { return }
        let part = PartialBody(bytes: bytes + stream.unreadBytes, head: stream.head, url: stream.effectiveURL)
        await keep(part, of: request, since: stream.partOrigin)
    }
}
