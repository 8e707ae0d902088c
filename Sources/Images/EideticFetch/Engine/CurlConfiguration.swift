import CCurl
import EideticCore

/// The options that all connections of libcurl have in common, those of images and those of transfers.
package struct CurlConfiguration: Sendable {
    /// The value of `User-Agent`.
    package var userAgent: String
    /// The path of a file with trusted certificates; `nil` for those of the system.
    package var certificateAuthorityFile: String?
    package var proxy = Downloader.Proxy.environment
    package var addressFamily = Downloader.AddressFamily.any
    /// The hashes of public keys, such as `sha256//…`, one of which the server of a host must have, by normalised host.
    private var pinnedPublicKeys: [String: [String]] = [:]

    /// The time without an acknowledgement after which the kernel closes a connection; `nil` for that of the kernel,
    /// several minutes.
    ///
    /// - SeeAlso: RFC 5482; tcp(7), `TCP_USER_TIMEOUT`.
    var acknowledgementLimit: Duration?

    package init(userAgent: String) { self.userAgent = userAgent }

    /// Checks that libcurl, which opens the file of certificates in the thread of all exchanges, does not wait for the
    /// writer of a FIFO.
    ///
    /// - Throws: `fileFailure`.
    package func check() throws(EideticError) {
        guard let path = certificateAuthorityFile, !FileSystem().isDeviceOrOpenFile(path),
            (try? FileSystem().status(of: path).kind) == .other
        else { return }
        throw EideticError(.fileFailure, message: "\(path): not a regular file")
    }

    /// Pins the public keys of hosts, in any spelling.
    package mutating func pin(_ keys: [String: [String]]) {
        for (host, keys) in keys { pinnedPublicKeys[ParsedURL.normalisedHost(host), default: []] += keys }
    }

    /// Sets the options of a handle that has none.
    package func apply(to handle: EasyHandle, host: String) {
        handle.set(CURLOPT_PROTOCOLS_STR, to: "http,https")
        handle.set(CURLOPT_NOSIGNAL, to: 1)
        // A slow name server must not block the thread when an exchange is cancelled.
        handle.set(CURLOPT_QUICK_EXIT, to: 1)
        // Time-outs are measured with the clock of their owner; libcurl's would count stops of the process.
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, to: 86_400_000)
        // libcurl allocates one buffer for each running exchange; larger ones were not faster.
        handle.set(CURLOPT_BUFFERSIZE, to: 65_536)
        // libcurl would decode all bytes of a read at once, and any number of codings; offsets of files are those of
        // the body as it is sent.
        handle.set(CURLOPT_HTTP_CONTENT_DECODING, to: 0)
        handle.set(CURLOPT_TCP_KEEPALIVE, to: 1)
        if let limit = acknowledgementLimit {
            eidetic_curl_set_user_timeout(handle.pointer, UInt32(limit.inMilliseconds))
        }
        handle.set(CURLOPT_HTTP_VERSION, to: CURL_HTTP_VERSION_2TLS)
        handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
        handle.set(CURLOPT_USERAGENT, to: userAgent)
        // Debian's libcurl has a default CApath, with which it parses all certificates again in every handshake.
        eidetic_curl_set_string(handle.pointer, CURLOPT_CAPATH, nil)
        if let file = certificateAuthorityFile { handle.set(CURLOPT_CAINFO, to: file) }
        if let keys = pinnedPublicKeys[host] {
            handle.set(CURLOPT_PINNEDPUBLICKEY, to: keys.joined(separator: ";"))
        }
        eidetic_curl_set_pointer(handle.pointer, CURLOPT_ERRORBUFFER, handle.errorBuffer)
        switch proxy {
        case .environment: break
        case .none: handle.set(CURLOPT_PROXY, to: "")
        case .url(let url): handle.set(CURLOPT_PROXY, to: url)
        }
        switch addressFamily {
        case .any: break
        case .ipv4: handle.set(CURLOPT_IPRESOLVE, to: Int(CURL_IPRESOLVE_V4))
        case .ipv6: handle.set(CURLOPT_IPRESOLVE, to: Int(CURL_IPRESOLVE_V6))
        }
    }
}

extension EasyHandle {
    func set(_ option: CURLoption, to value: Int) { eidetic_curl_set_long(pointer, option, value) }

    func set(_ option: CURLoption, to value: String) {
        _ = value.withCString { eidetic_curl_set_string(pointer, option, $0) }
    }
}
