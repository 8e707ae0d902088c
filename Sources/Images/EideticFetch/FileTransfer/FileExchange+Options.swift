import CCurl
import EideticCore
import EideticHTTP
import Glibc

extension FileExchange {
    private var easy: UnsafeMutableRawPointer { handle.pointer }

    /// Sets all options of the handle.
    func configure(with configuration: CurlConfiguration, cookies: CookieJar?) {
        curl_easy_reset(easy)
        configuration.apply(to: handle, host: (try? TransferURL(request.url))?.origin.host ?? "")
        set(CURLOPT_UPLOAD_BUFFERSIZE, to: 65_536)
        set(CURLOPT_URL, to: request.url)
        set(CURLOPT_PIPEWAIT, to: request.url.hasPrefix("https:") ? 1 : 0)
        setMethod()
        setHeaders()
        if let cookies {
            set(CURLOPT_COOKIEFILE, to: "")
            eidetic_curl_set_pointer(easy, CURLOPT_SHARE, cookies.handle)
        }
        setCallbacks()
    }

    private func setMethod() {
        if let length = request.bodyLength {
            set(CURLOPT_UPLOAD, to: 1)
            eidetic_curl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(length))
        } else if request.method == "HEAD" {
            set(CURLOPT_NOBODY, to: 1)
        }
        set(CURLOPT_CUSTOMREQUEST, to: request.method)
    }

    private func setHeaders() {
        var headers = request.headers
        if request.expectsContinue { headers["Expect"] = "100-continue" }
        handle.headerList = HeaderList(headers, removing: request.expectsContinue ? [] : ["Expect"])
        eidetic_curl_set_list(easy, CURLOPT_HTTPHEADER, handle.headerList?.pointer)
    }

    private func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        eidetic_curl_set_pointer(easy, CURLOPT_PRIVATE, context)
        eidetic_curl_set_receivers(easy, receiveBody, receiveHeadLine, context)
        eidetic_curl_set_sender(easy, readBody, seekBody, context)
        guard request.requiresPublicAddress else { return }
        // An open connection may lead to a private address.
        set(CURLOPT_FRESH_CONNECT, to: 1)
        set(CURLOPT_PROXY, to: "")
        eidetic_curl_set_socket_opener(easy, openPublicSocket, context)
    }

    private func set(_ option: CURLoption, to value: Int) { handle.set(option, to: value) }

    private func set(_ option: CURLoption, to value: String) { handle.set(option, to: value) }
}

private func exchange(_ context: UnsafeMutableRawPointer) -> FileExchange {
    Unmanaged<FileExchange>.fromOpaque(context).takeUnretainedValue()
}

private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, let bytes else { return size * count }
    let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return exchange(context).receive(body: chunk) ? size * count : 0
}

private func receiveHeadLine(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, let bytes else { return size * count }
    let lines = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return exchange(context).receive(head: lines) ? size * count : 0
}

private func readBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, let bytes else { return Int(CURL_READFUNC_ABORT) }
    let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
    return exchange(context).read(into: buffer) ?? Int(CURL_READFUNC_ABORT)
}

private func seekBody(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard let context, origin == SEEK_SET, offset >= 0 else { return CURL_SEEKFUNC_CANTSEEK }
    let hasMoved = exchange(context).delegate?.seek(to: Int(offset)) ?? false
    return hasMoved ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}

private func openPublicSocket(
    _ context: UnsafeMutableRawPointer?,
    _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return CURL_SOCKET_BAD }
    guard let networkAddress = NetworkAddress(&address.pointee.addr), networkAddress.isPublic else {
        let host = (try? TransferURL(exchange(context).request.url))?.origin.description ?? ""
        let message = "a redirect from a public address leads to \(host) in a private network, which is not allowed"
        _ = exchange(context).fail(EideticError(.badRedirect, message: message))
        return CURL_SOCKET_BAD
    }
    let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return socket(address.pointee.family, type, address.pointee.protocol)
}
