import CCurl
import EideticCore
import EideticHTTP
import Glibc

extension FileExchange {
    private var easy: UnsafeMutableRawPointer { handle.pointer }

    /// Sets all options of the handle.
    func configure(with configuration: CurlConfiguration) {
        configuration.apply(to: handle, host: origin?.host ?? "")
        set(CURLOPT_UPLOAD_BUFFERSIZE, to: 65_536)
        set(CURLOPT_URL, to: request.url)
        set(CURLOPT_PIPEWAIT, to: request.url.hasPrefix("https:") ? 1 : 0)
        setMethod()
        setHeaders()
        if request.cookieJar != nil { set(CURLOPT_COOKIEFILE, to: "") }
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
        handle.setReceiver(self, refusesPrivateNetworks: request.requiresPublicAddress)
        eidetic_curl_set_reader(easy, CURLOPT_READFUNCTION) { bytes, size, count, context in
            guard let context, let bytes else { return Int(CURL_READFUNC_ABORT) }
            let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return exchange(context).read(into: buffer) ?? Int(CURL_READFUNC_ABORT)
        }
        eidetic_curl_set_seeker(easy, CURLOPT_SEEKFUNCTION) { context, offset, origin in
            guard let context, origin == SEEK_SET, offset >= 0 else { return CURL_SEEKFUNC_CANTSEEK }
            let hasMoved = exchange(context).delegate?.seek(to: Int(offset)) ?? false
            return hasMoved ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
        }
        for option in [CURLOPT_READDATA, CURLOPT_SEEKDATA] {
            eidetic_curl_set_pointer(easy, option, Unmanaged.passUnretained(self).toOpaque())
        }
        guard request.requiresPublicAddress else { return }
        // An open connection may lead to a private address.
        set(CURLOPT_FRESH_CONNECT, to: 1)
        set(CURLOPT_PROXY, to: "")
    }

    private func set(_ option: CURLoption, to value: Int) { handle.set(option, to: value) }

    private func set(_ option: CURLoption, to value: String) { handle.set(option, to: value) }
}

private func exchange(_ context: UnsafeMutableRawPointer) -> FileExchange {
    Unmanaged<FileExchange>.fromOpaque(context).takeUnretainedValue()
}
