public import EideticStore

extension ImagePipeline.Configuration {
    /// How long a cached original is served without asking its server.
    public enum Freshness: Sendable, Hashable {
        /// Until it is older than the disk cache's maximum age, whatever the server said; only `no-store` is obeyed.
        ///
        /// This is the tradition of image caches: a URL names one picture.
        case maximumAge

        /// As long as the server says, else as long as `heuristic` allows; then it is revalidated.
        ///
        /// `stale-while-revalidate` and `stale-if-error` are obeyed.
        /// - SeeAlso: RFC 9111, RFC 5861.
        case http(heuristic: ResponseFreshness.Heuristic = .init())
    }
}
