import CCurl
import EideticCore

extension Exchange {
    /// Returns whether the request is sent once more, over a new connection.
    ///
    /// A server may end a kept connection while a request is on its way, for instance after a number of requests.
    /// libcurl sends the request again over other kept connections, and gives up after five. The server has not begun
    /// to answer, so an idempotent request may be repeated.
    ///
    /// - SeeAlso: RFC 9112, section 9.3.1; RFC 9113, sections 6.8 and 8.7.
    func mayBeRepeated(after code: CURLcode) -> Bool {
        guard !isRepeated, failure == nil, headBytes == 0, FetchRequest.isIdempotent(request.redirect.method),
            Self.lossCodes.contains(code.rawValue)
        else { return false }
        return integer(for: CURLINFO_NUM_CONNECTS) == 0 || detail(for: code).hasPrefix("Connection died")
    }

    /// The codes of a connection that was lost.
    private static let lossCodes = Set(
        [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM].map(\.rawValue)
    )
}
