import CCurl
import EideticCore
import Glibc

extension Exchange {
    /// Returns the error for a code of libcurl, with host and port in its message.
    func error(for code: CURLcode) -> EideticError {
        let number = Int32(truncatingIfNeeded: handle.integer(for: CURLINFO_OS_ERRNO))
        let systemErrorNumber = number == 0 ? nil : number
        switch code {
        case CURLE_PARTIAL_FILE: return head == nil ? lostHeadError : truncatedBodyError
        case _ where handle.hasFoundEndlessLine(code):
            let part = head == nil ? "the response head" : "the trailer of the body"
            return EideticError(.badResponse, message: "\(request.url): \(part) has a line that has no end")
        case CURLE_BAD_CONTENT_ENCODING:
            // Content is not decoded by libcurl, which since version 8.6 refuses transfer codings by itself.
            return EideticError(.badResponse, message: "\(request.url): \(Self.unrequestedTransferCoding)")
        case CURLE_COULDNT_CONNECT: return connectError(systemErrorNumber: systemErrorNumber)
        case CURLE_RECV_ERROR where (400..<500).contains(handle.integer(for: CURLINFO_HTTP_CONNECTCODE)):
            // The status belongs to the proxy, not to the origin, so `httpStatus` stays `nil`.
            let status = handle.integer(for: CURLINFO_HTTP_CONNECTCODE)
            return EideticError(
                .connectionRefused,
                message: "the proxy for \(request.origin) responded with status \(status) (\(request.url))"
            )
        case CURLE_SSL_CONNECT_ERROR where isConnectionLostInHandshake:
            let message = "\(request.origin): \(handle.message(for: code)) (\(request.url))"
            return EideticError(.connectionLost, message: message)
        case CURLE_COULDNT_RESOLVE_HOST:
            return EideticError(
                .hostNotFound,
                message: "the host \(request.origin.host) was not found (\(handle.message(for: code)))"
            )
        case CURLE_COULDNT_RESOLVE_PROXY:
            return EideticError(
                .hostNotFound,
                message: "the proxy for \(request.origin) was not found (\(handle.message(for: code)))"
            )
        default:
            return EideticError(
                Self.errorCodes[code.rawValue] ?? .badResponse,
                message: "\(request.origin): \(handle.message(for: code)) (\(request.url))",
                httpStatus: head?.status,
                systemErrorNumber: systemErrorNumber
            )
        }
    }

    /// The fault of a transfer coding other than `chunked`.
    static let unrequestedTransferCoding = "the response has a transfer coding that was not requested"

    private func connectError(systemErrorNumber: Int32?) -> EideticError {
        let code: EideticError.Code = systemErrorNumber == ETIMEDOUT ? .timedOut : .connectionRefused
        let reason = systemErrorNumber.map(SystemError.message(for:)) ?? handle.message(for: CURLE_COULDNT_CONNECT)
        let target = unreachableProxy.map { "the proxy \($0) for \(request.origin)" } ?? "\(request.origin)"
        return EideticError(
            code,
            message: "cannot connect to \(target): \(reason)",
            systemErrorNumber: systemErrorNumber
        )
    }

    /// The host and port of the proxy that a connection could not be made to; `nil` without a proxy.
    ///
    /// The environment may name a proxy, and exceptions from it; libcurl's message is the only sign of its choice.
    private var unreachableProxy: String? {
        let words = handle.message(for: CURLE_COULDNT_CONNECT).split(separator: " ")
        guard words.starts(with: ["Failed", "to", "connect", "to"]), words.count > 6, words[5] == "port"
        else { return nil }
        let peer = "\(words[4]):\(words[6])"
        let host = request.origin.host.filter { !"[]".contains($0) }
        return peer == "\(host):\(request.origin.port)" ? nil : peer
    }

    /// The error of a connection that the server closed regularly, but before the end of the body.
    private var truncatedBodyError: EideticError {
        guard let length = head?.contentLength else {
            return EideticError(
                .connectionLost,
                message: "\(request.url): the connection was closed within the body, after \(body.bytes.count) bytes"
            )
        }
        let received = body.bytes.isEmpty ? "" : " after \(body.bytes.count)"
        return EideticError(
            .lengthMismatch,
            message: "\(request.url): \(length) bytes were announced, but the connection was closed\(received)"
        )
    }

    /// The error of a connection that the server closed before the end of the head.
    var lostHeadError: EideticError {
        EideticError(
            .connectionLost,
            message: "\(request.url): the connection was closed within the head, after \(headLines.byteCount) bytes"
        )
    }

    /// A Boolean value indicating whether the connection was lost in the TLS handshake.
    ///
    /// libcurl has no code for this case; the system's error and OpenSSL's message are the only indications.
    var isConnectionLostInHandshake: Bool {
        if [Int(ECONNRESET), Int(EPIPE)].contains(handle.integer(for: CURLINFO_OS_ERRNO)) { return true }
        let text = handle.message(for: CURLE_SSL_CONNECT_ERROR)
        return ["SYSCALL", "reset by peer", "Broken pipe", "unexpected eof"].contains { text.contains($0) }
    }

    /// Records that a connection to an address in a private network was refused.
    func refuseAddress(_ address: UnsafePointer<sockaddr>) {
        let text = NetworkAddress(address).map(\.description) ?? "an unknown address family"
        let reason = "resolves to a private network (\(text)), which refusesPrivateNetworks forbids"
        fail(EideticError(.refused, message: "\(request.origin) \(reason)"))
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
