import CCurl
import EideticCore

extension Exchange {
    /// The largest number of repetitions of a request; Firefox has as many (`network.http.request.max-attempts`).
    static let repetitionLimit = 10

    /// Returns whether the request is sent once more, over a new connection.
    ///
    /// A server may end a connection while a request is on its way, for instance a kept one after a number of requests,
    /// or a new one because it is being restarted. libcurl sends the request again over other kept connections, and
    /// gives up after five. The server has not begun to answer, so an idempotent request may be repeated. A repetition
    /// that fails is repeated only if the last download of the origin that ended had a response, and for as long as the
    /// time-out without a byte, which each repetition would begin again.
    ///
    /// - SeeAlso: RFC 9112, section 9.3.1; RFC 9113, sections 6.8 and 8.7.
    func mayBeRepeated(after code: CURLcode, originAnswers: Bool) -> Bool {
        guard repetitionCount < (originAnswers ? Self.repetitionLimit : 1), failure == nil, headLines.byteCount == 0,
            FetchRequest.isIdempotent(request.redirect.method),
            !(400..<600).contains(handle.integer(for: CURLINFO_HTTP_CONNECTCODE)),
            repetitionCount == 0 || timer.activeTime(at: clock.now) < request.fetchRequest.timeout
        else { return false }
        switch code {
        // The end of a stream of HTTP/2, and of its connection, is that of a body, even before the head.
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_PARTIAL_FILE: return true
        case CURLE_SSL_CONNECT_ERROR: return handle.isConnectionLostInHandshake
        // The stream alone was refused, unless its connection was kept and is ending.
        case CURLE_HTTP2_STREAM:
            return handle.integer(for: CURLINFO_NUM_CONNECTS) == 0
                || handle.message(for: code).hasPrefix("Connection died")
        default: return false
        }
    }
}
