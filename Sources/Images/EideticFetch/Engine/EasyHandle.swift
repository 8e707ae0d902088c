import CCurl
import EideticCore
import Glibc

/// libcurl's easy handle, for one exchange; used on the engine's thread only.
///
/// It is not used again: `curl_easy_reset` of libcurl 7.88 keeps the number of requests that were sent again because a
/// kept connection was dead, and a pointer to the last field of the previous response, which is freed, and to which a
/// response that begins with a continuation line appends.
package final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// The buffer for libcurl's error message.
    let errorBuffer: UnsafeMutablePointer<CChar>
    /// The header fields; libcurl reads them while the exchange runs.
    var headerList: HeaderList?
    /// The exchange that libcurl calls, which owns the handle.
    unowned var receiver: (any CurlReceiver)?

    package init?() {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(pointer)
        errorBuffer.deallocate()
    }
}

// MARK: Information of an exchange
extension EasyHandle {
    func integer(for info: CURLINFO) -> Int {
        var value = 0
        eidetic_curl_get_long(pointer, info, &value)
        return value
    }

    func offset(for info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        eidetic_curl_get_offset(pointer, info, &value)
        return Int64(value)
    }

    func string(for info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        eidetic_curl_get_string(pointer, info, &value)
        return value.map { String(cString: $0) }
    }

    /// Returns a Boolean value indicating whether a code of libcurl means that a line of the head or of the
    /// trailer is over its limit.
    ///
    /// libcurl 7.88 calls that a lack of memory, which would have ended the process before, and in the trailer a fault
    /// of the chunks; 8.14 has a code.
    func hasFoundEndlessLine(_ code: CURLcode) -> Bool {
        // `CURLE_TOO_LARGE` of libcurl 8.6.
        (code == CURLE_OUT_OF_MEMORY || code.rawValue == 100) && offset(for: CURLINFO_PRETRANSFER_TIME_T) > 0
    }

    /// Returns libcurl's message for the end of the exchange.
    func message(for code: CURLcode) -> String {
        let text = String(cString: errorBuffer)
        switch code {
        // Content is not decoded by libcurl, which since version 8.6 refuses transfer codings by itself.
        case CURLE_BAD_CONTENT_ENCODING: return "the response has a transfer coding that was not requested"
        case CURLE_HTTP2_STREAM where text.contains("PROTOCOL_ERROR"): return "the response violates HTTP/2: \(text)"
        // libcurl reports it for the request that reads the connection, which may be another one.
        case CURLE_RECV_ERROR where text.contains("nghttp2_session"):
            return "the connection of HTTP/2 ended, because a response head on it was too long or broken: \(text)"
        case _ where !text.isEmpty: return text
        case CURLE_BAD_FUNCTION_ARGUMENT: return "the head of the response begins with a continuation line"
        default: return String(cString: curl_easy_strerror(code))
        }
    }

    /// The durations and sizes of the exchange.
    var metrics: FetchMetrics {
        var metrics = FetchMetrics()
        metrics.nameLookup = .microseconds(offset(for: CURLINFO_NAMELOOKUP_TIME_T))
        metrics.connect = .microseconds(offset(for: CURLINFO_CONNECT_TIME_T))
        metrics.tls = .microseconds(offset(for: CURLINFO_APPCONNECT_TIME_T))
        metrics.firstByte = .microseconds(offset(for: CURLINFO_STARTTRANSFER_TIME_T))
        metrics.total = .microseconds(offset(for: CURLINFO_TOTAL_TIME_T))
        metrics.bodyBytes = Int(offset(for: CURLINFO_SIZE_DOWNLOAD_T))
        metrics.headerBytes = integer(for: CURLINFO_HEADER_SIZE)
        metrics.httpVersion = httpVersion
        if let address = string(for: CURLINFO_PRIMARY_IP), !address.isEmpty {
            let host = address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]" : address
            metrics.remoteAddress = "\(host):\(integer(for: CURLINFO_PRIMARY_PORT))"
        }
        return metrics
    }

    private var httpVersion: String {
        switch integer(for: CURLINFO_HTTP_VERSION) {
        case 1: "HTTP/1.0"
        case 2: "HTTP/1.1"
        case 3: "HTTP/2"
        default: ""
        }
    }
}

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

/// libcurl's multi handle, used on the engine's thread only.
final class MultiHandle {
    let pointer: UnsafeMutableRawPointer

    private static let isInitialised: Bool = eidetic_curl_start() == CURLE_OK

    /// Creates a handle; traps if libcurl cannot be initialised, which happens without memory only.
    init() {
        guard Self.isInitialised, let pointer = curl_multi_init() else {
            preconditionFailure("libcurl cannot be initialised")
        }
        self.pointer = pointer
    }

    deinit { curl_multi_cleanup(pointer) }
}
