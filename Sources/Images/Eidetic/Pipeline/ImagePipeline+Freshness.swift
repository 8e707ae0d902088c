extension ImagePipeline.Configuration {
    /// A rule for how long a cached image is used without its server.
    public enum Freshness: Sendable, Hashable {
        /// Until the disk cache's maximum age, whatever the server said.
        ///
        /// This is the tradition of image caches, in which a URL names one image. Responses that must not be stored
        /// (`no-store`, `Vary: *`, with cookies `Vary: Cookie`) are kept from the disk; memory has them as long as
        /// there is room. Of the directives of a request `no-store` and `only-if-cached` are obeyed.
        case maximumAge

        /// As long as the server says, else a tenth of the time since the last modification, at most a day; then the
        /// image is revalidated.
        ///
        /// `stale-while-revalidate` and `stale-if-error` are obeyed, and so are the directives of a request's own
        /// `Cache-Control` field. Responses that must not be stored are not kept in memory either, nor are those that
        /// depend (`Vary`) on fields which hooks of the downloader change. A redirect without a lifetime is followed
        /// anew each time. An image above the disk cache's maximum age is revalidated.
        /// - SeeAlso: RFC 9111, RFC 5861, RFC 8246.
        case http
    }
}
