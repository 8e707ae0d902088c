package import EideticHTTP

/// The exchanges that led to a response, for a cache.
///
/// A class, because a response is handed along many stages, and a copy of three requests retains dozens of objects.
package final class ResponseOrigin: Sendable {
    /// The request that was sent first, after the downloader's hook.
    package let request: FetchRequest
    /// The redirects that were followed, in order, and then the response itself.
    package let responses: [ResponseFreshness.Response]
    /// The target of a redirect whose own entry the server has confirmed, or which is fresh; otherwise, `nil`.
    package let cachedTarget: FetchRequest?
    /// A Boolean value indicating whether the entry of ``cachedTarget`` is fresh, so that no request was sent for it.
    package let isTargetFresh: Bool

    /// The last target of redirects, as a request of its own; `nil` without redirects.
    package let target: FetchRequest?

    init(redirect: Redirect, head: ResponseHead) {
        request = redirect.originalRequest
        isTargetFresh = head.isFromCache
        responses = redirect.redirects + (isTargetFresh ? [] : [head.cached])
        target = redirect.redirectCount > 0 ? redirect.targetRequest : nil
        cachedTarget = head.status == 304 ? redirect.cachedTarget : nil
    }
}
