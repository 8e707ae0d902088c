public import EideticCore

/// A network over which a downloader sends its requests; by default that is libcurl.
///
/// ```swift
/// var configuration = Downloader.Configuration()
/// configuration.network = MyNetwork()
/// ```
///
/// A downloader keeps its queue, limits, retries, redirects, list of failures and hooks, whatever the network is.
/// Connections are matters of the network: proxies, certificates, pinned keys, addresses, cookies, time-outs and rate
/// limits. A `Downloader` is a network as well, for networks that change its requests or responses.
///
/// - *Threads:* The function is called on Swift's cooperative pool, for as many requests at once as the downloader
///   admits, and must not block.
/// - *Cancellation:* When its task is cancelled, it throws soon; the downloader does not wait for that.
/// - *Limits:* A body above `FetchRequest.byteLimit` is refused; a network should not receive more than that.
/// - *Errors:* A server's response is returned whatever its status. `connectionLost`, `connectionRefused`, `timedOut`
///   and `hostNotFound` count as failures of the transport, and are retried where the request or the downloader asks
///   for that.
public protocol NetworkClient: Sendable {
    /// Sends one request, and returns the response of its server.
    ///
    /// - Parameter request: The request, with all its header fields. Conditions are among them, so 304 may be the
    ///   status of the response; its credentials are in `FetchRequest.credentials`.
    /// - Returns: The response, with its body decompressed. Redirects are returned, not followed.
    /// - Throws: The error that kept a response from arriving.
    func response(to request: FetchRequest) async throws(EideticError) -> FetchResponse
}

extension Downloader: NetworkClient {
    /// Sends one request, and returns the response of its server, whatever its status.
    ///
    /// Unlike ``fetch(_:priority:onProgress:)`` it follows no redirect; that is left to the downloader whose network
    /// this one is.
    public func response(to request: FetchRequest) async throws(EideticError) -> FetchResponse {
        var request = request
        request.isSingleExchange = true
        return try await fetch(request)
    }
}
