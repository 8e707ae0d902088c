import CCurl
import EideticCore
import Glibc

extension Transfer {
    /// Translates libcurl's verdict into ours, with host and port in the message.
    func error(for code: CURLcode) -> EideticError {
        let number = Int32(truncatingIfNeeded: long(CURLINFO_OS_ERRNO))
        let system = number == 0 ? nil : number
        switch code {
        case CURLE_PARTIAL_FILE: return shortBody
        case CURLE_COULDNT_CONNECT:
            let code: EideticError.Code = number == ETIMEDOUT ? .timedOut : .connectionRefused
            let reason = system.map(SystemError.message) ?? detail(CURLE_COULDNT_CONNECT)
            return EideticError(
                code,
                "\(order.origin) cannot be reached: \(reason)",
                systemErrorNumber: system
            )
        case CURLE_RECV_ERROR where (400..<500).contains(long(CURLINFO_HTTP_CONNECTCODE)):
            // No status: it is not the origin's, which nobody could ask.
            let status = long(CURLINFO_HTTP_CONNECTCODE)
            return EideticError(.connectionRefused, "the proxy for \(order.origin) answered \(status) (\(order.url))")
        case CURLE_SSL_CONNECT_ERROR where isLostInHandshake:
            return EideticError(.connectionLost, "\(order.origin): \(detail(code)) (\(order.url))")
        case CURLE_COULDNT_RESOLVE_HOST:
            return EideticError(.hostNotFound, "the host \(order.origin.host) was not found (\(detail(code)))")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return EideticError(.hostNotFound, "the proxy for \(order.origin) was not found (\(detail(code)))")
        default:
            return EideticError(
                Self.codes[code.rawValue] ?? .badResponse,
                "\(order.origin): \(detail(code)) (\(order.url))",
                httpStatus: head?.status,
                systemErrorNumber: system
            )
        }
    }

    /// The server ended the connection in good order, but before the end.
    private var shortBody: EideticError {
        guard let length = head?.contentLength else {
            return EideticError(
                .connectionLost,
                "\(order.url): the connection ended before the body did, after \(body.count) bytes"
            )
        }
        let came = body.isEmpty ? "" : " after \(body.count)"
        return EideticError(
            .lengthMismatch,
            "\(order.url): \(length) bytes were announced, but the connection ended\(came)"
        )
    }

    /// Whether the connection ended before it was secure: only the text of OpenSSL says so.
    private var isLostInHandshake: Bool {
        let text = detail(CURLE_SSL_CONNECT_ERROR)
        return ["SYSCALL", "reset by peer", "Broken pipe", "unexpected eof"].contains { text.contains($0) }
    }

    /// How long the exchange may still go on without a byte; where that is no time at all, it fails.
    ///
    /// Time in which we take no bytes is not the server's.
    func timeLeft() -> Duration {
        let now = clock.now
        if !pauses.isEmpty { lastByte = now }
        let silence = order.request.timeout - (now - lastByte)
        if silence <= .zero { failForTime(order.request.timeout, total: false) }
        guard let limit = order.request.totalTimeout else { return silence }
        let rest = limit - timeInUse
        if rest <= .zero { failForTime(limit, total: true) }
        return min(silence, rest)
    }

    private func failForTime(_ limit: Duration, total: Bool) {
        if !hasAnswer { fail(timeoutError(limit, total: total)) }
    }

    /// Refuses to connect to an address that is not public.
    func refuseAddress(_ address: UnsafePointer<sockaddr>) {
        let text = NetworkAddress(address).map(\.description) ?? "an unknown family"
        fail(EideticError(.refused, "\(order.origin) leads into a private network (\(text)), which is not allowed"))
    }

    private func timeoutError(_ limit: Duration, total: Bool) -> EideticError {
        let seconds = "\((limit.inSeconds * 10).rounded() / 10) s"
        let what = total ? "not complete after \(seconds)" : "no byte for \(seconds)"
        let place = head == nil ? "before the answer began" : "in the middle of the body"
        return EideticError(.timedOut, "\(order.origin): \(what), \(place) (\(order.url))")
    }

    private func detail(_ code: CURLcode) -> String {
        let text = String(cString: handle.errorText)
        return text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
    }

    private static let codes: [UInt32: EideticError.Code] = {
        var codes: [UInt32: EideticError.Code] = [
            CURLE_URL_MALFORMAT.rawValue: .invalidURL,
            CURLE_OPERATION_TIMEDOUT.rawValue: .timedOut,
            CURLE_OUT_OF_MEMORY.rawValue: .outOfMemory,
            CURLE_TOO_MANY_REDIRECTS.rawValue: .badRedirect,
        ]
        for code in [CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM] {
            codes[code.rawValue] = .connectionLost
        }
        codes[CURLE_PROXY.rawValue] = .connectionRefused
        for code in [
            CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
        ] { codes[code.rawValue] = .tlsFailure }
        return codes
    }()
}
