import CCurl

/// libcurl's easy handle, for one exchange at a time; used on the engine's thread only.
package final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// The buffer for libcurl's error message.
    let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The header fields; libcurl reads them while the exchange runs.
    var headerList: HeaderList?
    /// A Boolean value indicating whether the handle has the options common to all exchanges, and no others.
    var hasOnlyCommonOptions = false

    package init?() {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    /// Removes all options, and what libcurl counts beyond the end of an exchange.
    ///
    /// libcurl 7.88 counts the requests that it has sent again because a kept connection was dead, and gives up after
    /// five of one handle. Sessions of TLS stay. With the common options it takes 1.6 µs, and a new handle 2.3 µs.
    package func reset() {
        headerList = nil
        hasOnlyCommonOptions = false
        curl_easy_reset(pointer)
    }

    deinit {
        curl_easy_cleanup(pointer)
        errorBuffer.deallocate()
    }
}
