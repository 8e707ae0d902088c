import EideticFetch
import EideticHTTP

/// The directives for caches in the header fields of a request.
extension ImageRequest {
    /// The request to the server; `nil` if no server is needed.
    var server: FetchRequest? { resource.remote }

    /// The header fields of the request itself.
    var cacheFields: [HTTPField] { server?.headers.fields ?? [] }

    /// A Boolean value indicating whether only a stored response is wanted.
    var isOnlyIfCached: Bool { resource.hasRemote { !$0.headers.isEmpty && $0.cacheControl.onlyIfCached } }

    /// The directives by which caches on the way are asked to revalidate their responses as well.
    var reloadDirectives: String {
        let own = cacheFields.combinedValue(of: "cache-control")
        guard let own else { return "max-age=0" }
        return CacheControl(cacheFields).refusesCached ? own : own + ", max-age=0"
    }
}

extension FetchRequest {
    /// A Boolean value indicating whether the directives of the request limit the age of a response.
    var limitsAge: Bool {
        guard !headers.isEmpty else { return false }
        let control = cacheControl
        return control.noCache || control.maxAge != nil || control.minFresh != nil
    }
}
