public import EideticStore

extension ImagePipeline.Configuration {
    /// A rule for how long a cached image is used without its server.
    public enum Freshness: Sendable, Hashable {
        /// Until the disk cache's maximum age, whatever the server said.
        ///
        /// This is the tradition of image caches, in which a URL names one image. Responses that must not be stored
        /// (`no-store`, `Vary: *`, with cookies `Vary: Cookie`) are kept from the disk; memory has them as long as
        /// there is room.
        case maximumAge

        /// As long as the server says, else as long as `heuristic` allows; then the image is revalidated.
        ///
        /// `stale-while-revalidate` and `stale-if-error` are obeyed. Responses that must not be stored are not kept in
        /// memory either. A request's own header fields are part of its identity, so `Vary` is respected for them;
        /// those that the downloader's configuration and hooks add are not compared.
        /// - SeeAlso: RFC 9111, RFC 5861.
        case http(heuristic: ResponseFreshness.Heuristic = .init())
    }
}
