public import EideticCore

/// A client that sends a downloader's requests in place of libcurl.
///
/// ```swift
/// var configuration = Downloader.Configuration()
/// configuration.network = MyNetwork()
/// ```
///
/// The downloader still handles its queue, limits, retries, redirects, failure list and hooks. The client handles
/// connections: proxies, certificates, pinned keys, addresses, cookies, time-outs and rate limits. A `Downloader` is a
/// client, too, for clients that only change requests or responses.
///
/// - *Threads:* The function is called on Swift's cooperative pool, for as many requests at once as the downloader
///   admits, and must not block.
/// - *Cancellation:* When its task is cancelled, the function must throw soon; the downloader does not wait for it.
/// - *Limits:* A body above `FetchRequest.byteLimit` is refused; a client should not receive more than that.
/// - *Errors:* A server's response is returned whatever its status. `connectionLost`, `connectionRefused`, `timedOut`
///   and `hostNotFound` are transport failures, and are retried if the request or the downloader asks for that.
public protocol NetworkClient: Sendable {
    /// Sends one request, and returns the response of its server.
    ///
    /// - Parameter request: The request, with all its header fields. Conditions are among them, so 304 may be the
    ///   status of the response; its credentials are in `FetchRequest.credentials`.
    /// - Returns: The response, with its body decompressed. Redirects are returned, not followed.
    /// - Throws: The error, if no response arrived.
    func response(to request: FetchRequest) async throws(EideticError) -> FetchResponse
}

extension Downloader: NetworkClient {
    /// Sends one request, and returns the response of its server, whatever its status.
    ///
    /// Unlike ``fetch(_:priority:onProgress:)`` it follows no redirects; the downloader that uses this one as its
    /// client does.
    public func response(to request: FetchRequest) async throws(EideticError) -> FetchResponse {
        var request = request
        request.isSingleExchange = true
        return try await fetch(request)
    }
}
