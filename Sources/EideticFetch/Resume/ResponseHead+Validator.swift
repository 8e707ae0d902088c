import CCurl

extension ResponseHead {
    /// The strong validator of the response, which proves that two bodies are equal byte for byte; `nil` if it has
    /// none.
    ///
    /// A modification date is a strong validator if it is at least a minute older than the response, because a file may
    /// change twice within a second.
    ///
    /// - SeeAlso: RFC 9110, section 8.8.
    var strongValidator: String? { validatorCandidate.flatMap { $0.containsLineBreakOrNUL ? nil : $0 } }

    private var validatorCandidate: String? {
        if let tag = headers["ETag"] { return tag.hasPrefix("\"") && tag.utf8.count >= 2 ? tag : nil }
        guard let modified = headers["Last-Modified"], let date = headers["Date"] else { return nil }
        let (modificationTime, responseTime) = (curl_getdate(modified, nil), curl_getdate(date, nil))
        guard modificationTime >= 0, responseTime >= 0 else { return nil }
        return responseTime - modificationTime >= 60 ? modified : nil
    }

    /// Returns the delay that the server requests with `Retry-After`, in seconds or as a date.
    ///
    /// - SeeAlso: RFC 9110, section 10.2.3.
    func retryAfter(now: Int64) -> Duration? {
        guard [429, 503].contains(status), let field = headers["Retry-After"] else { return nil }
        if let seconds = Int64(field) { return seconds < 0 ? nil : .seconds(min(seconds, 1 << 32)) }
        let date = Int64(curl_getdate(field, nil))
        return date < 0 ? nil : .seconds(max(0, date - now))
    }
}
