import CCurl
import EideticCore
import Glibc

extension EasyHandle {
    /// Returns the code of the error for a code of libcurl.
    func errorCode(for code: CURLcode) -> EideticError.Code {
        switch code {
        case CURLE_URL_MALFORMAT: .invalidURL
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_OUT_OF_MEMORY: .outOfMemory
        case CURLE_TOO_MANY_REDIRECTS: .badRedirect
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .hostNotFound
        case CURLE_COULDNT_CONNECT, CURLE_PROXY: .connectionRefused
        // The error of a socket, or a malformed chunk.
        case CURLE_RECV_ERROR where message(for: code).contains("chunk"): .badResponse
        case CURLE_SSL_CONNECT_ERROR where isConnectionLostInHandshake: .connectionLost
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND,
            CURLE_HTTP2, CURLE_HTTP2_STREAM:
            .connectionLost
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            .tlsFailure
        default: .badResponse
        }
    }

    /// A Boolean value indicating whether the connection was lost in the TLS handshake.
    ///
    /// libcurl has no code for this case; the system's error and OpenSSL's message are the only indications.
    var isConnectionLostInHandshake: Bool {
        if [Int(ECONNRESET), Int(EPIPE)].contains(integer(for: CURLINFO_OS_ERRNO)) { return true }
        let text = message(for: CURLE_SSL_CONNECT_ERROR)
        return ["SYSCALL", "reset by peer", "Broken pipe", "unexpected eof"].contains { text.contains($0) }
    }
}
