import CCurl
import EideticCore
import Glibc

extension Exchange {
    /// Translates libcurl's verdict into ours, with host and port in the message.
    func error(for code: CURLcode) -> EideticError {
        let number = Int32(truncatingIfNeeded: integer(for: CURLINFO_OS_ERRNO))
        let system = number == 0 ? nil : number
        switch code {
        case CURLE_PARTIAL_FILE: return truncatedBodyError
        case CURLE_COULDNT_CONNECT:
            let code: EideticError.Code = number == ETIMEDOUT ? .timedOut : .connectionRefused
            let reason = system.map(SystemError.message) ?? detail(for: CURLE_COULDNT_CONNECT)
            return EideticError(
                code,
                message: "\(request.origin) cannot be reached: \(reason)",
                systemErrorNumber: system
            )
        case CURLE_RECV_ERROR where (400..<500).contains(integer(for: CURLINFO_HTTP_CONNECTCODE)):
            // No status: it is not the origin's, which nobody could ask.
            let status = integer(for: CURLINFO_HTTP_CONNECTCODE)
            return EideticError(
                .connectionRefused,
                message: "the proxy for \(request.origin) answered \(status) (\(request.url))"
            )
        case CURLE_SSL_CONNECT_ERROR where isConnectionLostInHandshake:
            return EideticError(.connectionLost, message: "\(request.origin): \(detail(for: code)) (\(request.url))")
        case CURLE_COULDNT_RESOLVE_HOST:
            return EideticError(
                .hostNotFound,
                message: "the host \(request.origin.host) was not found (\(detail(for: code)))"
            )
        case CURLE_COULDNT_RESOLVE_PROXY:
            return EideticError(
                .hostNotFound,
                message: "the proxy for \(request.origin) was not found (\(detail(for: code)))"
            )
        default:
            return EideticError(
                Self.errorCodes[code.rawValue] ?? .badResponse,
                message: "\(request.origin): \(detail(for: code)) (\(request.url))",
                httpStatus: head?.status,
                systemErrorNumber: system
            )
        }
    }

    /// The server ended the connection in good order, but before the end.
    private var truncatedBodyError: EideticError {
        guard let length = head?.contentLength else {
            return EideticError(
                .connectionLost,
                message: "\(request.url): the connection ended before the body did, after \(body.count) bytes"
            )
        }
        let received = body.isEmpty ? "" : " after \(body.count)"
        return EideticError(
            .lengthMismatch,
            message: "\(request.url): \(length) bytes were announced, but the connection ended\(received)"
        )
    }

    /// Whether the connection ended before it was secure: only the text of OpenSSL says so.
    private var isConnectionLostInHandshake: Bool {
        let text = detail(for: CURLE_SSL_CONNECT_ERROR)
        return ["SYSCALL", "reset by peer", "Broken pipe", "unexpected eof"].contains { text.contains($0) }
    }

    /// How long the exchange may still go on without a byte; where that is no time at all, it fails.
    ///
    /// Time in which we take no bytes is not the server's.
    func remainingTime() -> Duration {
        let now = clock.now
        if !pauseReasons.isEmpty { lastActivity = now }
        let silence = request.fetchRequest.timeout - (now - lastActivity)
        if silence <= .zero { failWithTimeout(request.fetchRequest.timeout, isTotal: false) }
        guard let limit = request.fetchRequest.totalTimeout else { return silence }
        let remainingTotal = limit - activeTime
        if remainingTotal <= .zero { failWithTimeout(limit, isTotal: true) }
        return min(silence, remainingTotal)
    }

    private func failWithTimeout(_ limit: Duration, isTotal: Bool) {
        if !isCompleteWithoutBody { fail(timeoutError(limit: limit, isTotal: isTotal)) }
    }

    /// Refuses to connect to an address that is not public.
    func refuseAddress(_ address: UnsafePointer<sockaddr>) {
        let text = NetworkAddress(address).map(\.description) ?? "an unknown family"
        fail(
            EideticError(
                .refused,
                message: "\(request.origin) leads into a private network (\(text)), which is not allowed"
            )
        )
    }

    private func timeoutError(limit: Duration, isTotal: Bool) -> EideticError {
        let seconds = "\((limit.inSeconds * 10).rounded() / 10) s"
        let fault = isTotal ? "not complete after \(seconds)" : "no byte for \(seconds)"
        let phase = head == nil ? "before the answer began" : "in the middle of the body"
        return EideticError(.timedOut, message: "\(request.origin): \(fault), \(phase) (\(request.url))")
    }

    private func detail(for code: CURLcode) -> String {
        let text = String(cString: handle.errorBuffer)
        return text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
    }

    private static let errorCodes: [UInt32: EideticError.Code] = {
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
