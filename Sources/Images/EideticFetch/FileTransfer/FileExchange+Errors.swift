import CCurl
import EideticCore

extension FileExchange {
    func error(for code: CURLcode) -> EideticError {
        let number = handle.integer(for: CURLINFO_OS_ERRNO)
        if handle.hasFoundEndlessLine(code) {
            let part = lineParser.isComplete ? "the trailer of the body" : "the response head"
            return EideticError(.badResponse, message: "\(request.url): \(part) has a line that has no end")
        }
        return EideticError(
            Self.codes[code.rawValue] ?? .badResponse,
            message: "\(request.url): \(handle.message(for: code))",
            systemErrorNumber: number == 0 ? nil : Int32(truncatingIfNeeded: number)
        )
    }

    private static let codes: [UInt32: EideticError.Code] = {
        var codes: [UInt32: EideticError.Code] = [
            CURLE_URL_MALFORMAT.rawValue: .invalidURL, CURLE_OPERATION_TIMEDOUT.rawValue: .timedOut,
            CURLE_OUT_OF_MEMORY.rawValue: .outOfMemory, CURLE_COULDNT_RESOLVE_HOST.rawValue: .hostNotFound,
            CURLE_COULDNT_RESOLVE_PROXY.rawValue: .hostNotFound, CURLE_COULDNT_CONNECT.rawValue: .connectionRefused,
            CURLE_PROXY.rawValue: .connectionRefused, CURLE_PARTIAL_FILE.rawValue: .connectionLost,
        ]
        for code in [
            CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_SSL_CONNECT_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_WEIRD_SERVER_REPLY,
        ] { codes[code.rawValue] = .connectionLost }
        for code in [
            CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM,
            CURLE_USE_SSL_FAILED, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS,
        ] { codes[code.rawValue] = .tlsFailure }
        return codes
    }()
}
