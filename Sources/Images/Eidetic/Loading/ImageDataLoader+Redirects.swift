import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// The targets of redirects, which have entries of their own.
extension ImageDataLoader: RedirectCache {
    /// Returns the settings by which the downloader finds the entries of targets; `nil` if they are not used.
    func redirectEntries(for request: ImageRequest) -> RedirectEntries? {
        guard usesHTTPFreshness, disk != nil, request.resource.isStoredOnDisk,
            request.access.contains(.readOriginal)
        else { return nil }
        let suffix = request.resource.identitySuffix(for: request.options)
        return RedirectEntries(
            in: self,
            keyOptions: .init(ignoredQueryItems: request.ignoredQueryItems, suffix: suffix)
        )
    }

    func entry(for target: FetchRequest, keyOptions: RedirectEntries.KeyOptions) async -> RedirectEntry? {
        guard let stored = await storedEntry(for: target, keyOptions: keyOptions), let freshness = freshness(of: stored)
        else { return nil }
        let fields = target.headers.fields
        if !stored.isExpired, freshness.reuse(at: now, request: fields) == .fresh { return .fresh }
        let conditions = Validators(stored.fields).conditionalFields
        return conditions.isEmpty ? nil : .stale(conditions: HTTPHeaders(conditions))
    }

    /// Returns the own entry of a target.
    func storedEntry(for target: FetchRequest, keyOptions: RedirectEntries.KeyOptions) async -> StoredEntry? {
        let key = key(of: target, keyOptions: keyOptions), context = JobContext(priority: .normal)
        let result = try? await search(for: key, context: context) { () async throws(EideticError) in
            self.source.downloader.selectingFields(ofSent: target)
        }
        guard case .found(let stored) = result else { return nil }
        return stored
    }

    /// Returns the key of a target's own entry.
    func key(of target: FetchRequest, keyOptions: RedirectEntries.KeyOptions) -> String {
        ImageRequest.Resource.remote(target).identity(ignoringQueryItems: keyOptions.ignoredQueryItems)
            + keyOptions.suffix
    }

    /// Returns the checksum of the URL that redirects led to, without its ignored items; 0 without redirects.
    func checksum(ofTarget url: String, origin: ResponseOrigin?, for request: ImageRequest) -> UInt64 {
        guard origin?.target != nil else { return 0 }
        let text = SignedURL.removingQueryItems(request.ignoredQueryItems, from: url)
        return Array(text.utf8).withUnsafeBytes { Checksum.value(of: $0) }
    }
}
