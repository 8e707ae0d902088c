public import EideticStore

extension ImagePipeline.Configuration {
    /// How long a cached original is served without asking its server.
    public enum Freshness: Sendable, Hashable {
        /// Until it is older than the disk cache's maximum age, whatever the server said.
        ///
        /// This is the tradition of image caches: a URL names one picture. Only what must not be stored (`no-store`, `Vary: *`,
        /// with cookies `Vary: Cookie`) is kept from the disk; memory has it as long as there is room.
        case maximumAge

        /// As long as the server says, else as long as `heuristic` allows; then it is revalidated.
        ///
        /// `stale-while-revalidate` and `stale-if-error` are obeyed, and what must not be stored is not kept in memory either.
        /// A request's own fields are part of the identity, so that what varies on them is told apart; what the downloader's
        /// configuration and hooks add is not looked at.
        /// - SeeAlso: RFC 9111, RFC 5861.
        case http(heuristic: ResponseFreshness.Heuristic = .init())
    }
}
