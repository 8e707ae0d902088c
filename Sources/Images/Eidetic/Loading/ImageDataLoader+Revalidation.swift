import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// Conditional requests: a server confirms cached bytes, or sends others.
extension ImageDataLoader {
    /// The bytes that a server sent or confirmed.
    struct Fetched: Sendable {
        let response: ImageDataSource.Response
        let bytes: [UInt8]
        /// The last response, with the fields that are stored.
        let final: ResponseFreshness.Response
        /// The redirects that led to it.
        let redirects: [ResponseFreshness.Response]
        /// The entry that the server has confirmed, under the key of the resource or of a redirect's target.
        var confirmed: StoredEntry?
    }

    /// Loads the bytes from the source, under the condition that they differ from a stored entry.
    ///
    /// A confirmation of something else than that entry is not used; the request is then repeated without conditions.
    /// An entry that the server reports to be gone is removed.
    func fetched(
        _ job: Job,
        validating stored: StoredEntry?
    ) async throws(EideticError) -> Fetched {
        do throws(EideticError) {
            let isGet = job.request.resource.remote?.isGet ?? true
            let conditions = isGet ? stored.map { Validators($0.fields).conditionalFields } ?? [] : []
            var headers = HTTPHeaders(conditions)
            if job.tiers.isReload { headers["Cache-Control"] = job.request.reloadDirectives }
            let response = try await source.response(
                for: job,
                conditions: headers,
                redirectEntries: redirectEntries(for: job.request)
            )
            if let fetched = await resolve(response, validating: stored, for: job.load) { return fetched }
            if conditions.isEmpty, response.origin?.cachedTarget == nil {
                throw Self.unexpectedNotModified(for: job.request)
            }
            let repeated = try await source.response(for: job)
            guard let fetched = await resolve(repeated, validating: nil, for: job.load) else {
                throw Self.unexpectedNotModified(for: job.request)
            }
            return fetched
        } catch {
            await removeIfGone(job.request, after: error)
            throw error
        }
    }

    /// Returns the bytes of a response; `nil` if it confirms something else than a known entry.
    private func resolve(
        _ response: ImageDataSource.Response,
        validating stored: StoredEntry?,
        for load: Load
    ) async -> Fetched? {
        let responses = response.origin?.responses ?? []
        if let bytes = response.bytes {
            let received = responses.last ?? .init(fields: [], requestTime: now, responseTime: now)
            let final = received.with(fields: response.fields)
            let redirects = Array(responses.dropLast())
            return Fetched(response: response, bytes: bytes, final: final, redirects: redirects)
        }
        guard let origin = response.origin else { return nil }
        if origin.cachedTarget != nil { return await resolveTarget(response, origin: origin, for: load) }
        guard let stored, let confirmation = responses.last,
            NotModified.confirms(response.fields, stored: stored.fields),
            stored.record.effectiveURL == checksum(ofTarget: response.effectiveURL, origin: origin, for: load.request)
        else { return nil }
        return confirm(stored, by: confirmation, in: response, redirects: Array(responses.dropLast()))
    }

    /// Returns the bytes of the own entry of a redirect's target.
    private func resolveTarget(
        _ response: ImageDataSource.Response,
        origin: ResponseOrigin,
        for load: Load
    ) async -> Fetched? {
        guard let target = origin.cachedTarget, let entries = redirectEntries(for: load.request),
            let stored = await storedEntry(for: target, keyOptions: entries.keyOptions)
        else { return nil }
        guard origin.isTargetFresh else {
            guard let confirmation = origin.responses.last,
                NotModified.confirms(response.fields, stored: stored.fields)
            else { return nil }
            var retention = retention(
                of: stored.merging(confirmation, fields: response.fields),
                redirects: [],
                origin: origin,
                for: load
            )
            await refresh(stored, with: &retention)
            let redirects = Array(origin.responses.dropLast())
            return confirm(stored, by: confirmation, in: response, redirects: redirects, isOwn: false)
        }
        let final = stored.record.response(stored.entry.metadata)
        return Fetched(response: response, bytes: stored.bytes, final: final, redirects: origin.responses)
    }

    private func confirm(
        _ stored: StoredEntry,
        by confirmation: ResponseFreshness.Response,
        in response: ImageDataSource.Response,
        redirects: [ResponseFreshness.Response],
        isOwn: Bool = true
    ) -> Fetched {
        let final = stored.merging(confirmation, fields: response.fields)
        return Fetched(
            response: response,
            bytes: stored.bytes,
            final: final,
            redirects: redirects,
            confirmed: isOwn ? stored : nil
        )
    }

    /// Stores the header fields of a confirmation; the bytes stay as they are.
    ///
    /// An entry that may no longer be kept is removed.
    func refresh(_ stored: StoredEntry, with retention: inout Retention) async {
        let entry = stored.entry
        do throws(EideticError) {
            guard case .resource = retention.place else {
                if retention.removesEntry { _ = try await disk?.remove(entry.key) }
                return
            }
            var metadata = entry.metadata
            metadata.headers = retention.metadata.headers
            (metadata.storageTime, metadata.expirationTime) = (Timestamp(nanoseconds: 0), nil)
            var record = retention.record
            (record.variants, record.selectingDigest) = (stored.record.variants, stored.record.selectingDigest)
            record.dependsOnHooks = record.dependsOnHooks || stored.record.dependsOnHooks
            record.placeholder = stored.record.placeholder
            record.replacementTime = stored.record.replacementTime
            metadata.extendedData = record.encoded
            try await disk?.replaceMetadata(of: entry, with: metadata)
        } catch {
            Log.write(.warning, category: .store, message: "\(entry.key): entry not refreshed: \(error)")
        }
    }

    /// Removes what caches have of an image that its server reports to be gone (404 and 410).
    private func removeIfGone(_ request: ImageRequest, after error: EideticError) async {
        guard usesHTTPFreshness, request.access.contains(.writeOriginal), !error.isRemembered,
            error.code == .httpStatus, [404, 410].contains(error.httpStatus),
            case .remote = request.resource
        else { return }
        renditions.removeContent(of: request)
        if let shared, let key = sharedKey(for: Load(request)) { await shared.remove(key, ifEqualTo: nil) }
        _ = try? await disk?.remove(request.resourceKey)
    }

    /// The error of a server that confirms an entry although the loader sent no condition; the caller may have.
    static func unexpectedNotModified(for request: ImageRequest) -> EideticError {
        let hasOwnCondition = ["If-None-Match", "If-Modified-Since"].contains { request.headers[$0] != nil }
        let problem =
            hasOwnCondition ? "the request's own condition, without a stored image" : "a request without conditions"
        return EideticError(.badResponse, message: "\(request.name): status 304 to \(problem)", httpStatus: 304)
    }
}

extension StoredEntry {
    /// Returns the stored response as a confirmation has updated it.
    fileprivate func merging(
        _ confirmation: ResponseFreshness.Response,
        fields: [HTTPField]
    ) -> ResponseFreshness.Response {
        ResponseFreshness.Response(
            status: record.status,
            fields: NotModified.merge(fields, into: self.fields),
            requestTime: confirmation.requestTime,
            responseTime: confirmation.responseTime
        )
    }
}

extension ResponseFreshness.Response {
    /// Returns this response with other fields.
    fileprivate func with(fields: [HTTPField]) -> ResponseFreshness.Response {
        var response = self
        response.fields = fields
        return response
    }
}
