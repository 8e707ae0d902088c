import CCurl

/// The beginning of a body whose rest did not come, and what proves that a rest belongs to it.
struct PartialBody: Sendable, Hashable {
    var bytes: [UInt8]
    /// A strong validator: what stands in `If-Range`.
    let validator: String
    /// The length of the whole, where the server said so.
    let totalLength: Int?

    init(bytes: [UInt8], validator: String, totalLength: Int?) {
        self.bytes = bytes
        self.validator = validator
        self.totalLength = totalLength
    }

    /// What can be kept of an exchange that broke off, which may have continued `earlier`; `nil` where a rest could not be told from the rest of another body.
    ///
    /// A compressed body is not kept: its rest is the rest of other bytes than those we have.
    init?(outcome: ExchangeOutcome, resuming earlier: PartialBody?) {
        guard let head = outcome.head, head.status == 200 || head.status == 206, !outcome.body.isEmpty,
            !head.hasContentCoding, head.headers["Accept-Ranges"]?.lowercased() != "none",
            let validator = head.strongValidator
        else { return nil }
        let range = head.headers["Content-Range"].flatMap(ContentRange.init)
        // The length of a part says nothing about the whole.
        let totalLength = head.status == 206 ? range?.total ?? earlier?.totalLength : head.contentLength
        self.init(bytes: outcome.body, validator: validator, totalLength: totalLength)
        if let totalLength, bytes.count >= totalLength { return nil }
    }

    /// The fields that ask for the rest.
    var rangeHeaders: HTTPHeaders {
        ["Range": "bytes=\(bytes.count)-", "If-Range": validator, "Accept-Encoding": "identity"]
    }

    /// The length of the whole, where an answer with status 206 holds the rest of this body; `nil` where it does not.
    ///
    /// A server may send less than it was asked for (RFC 9110, section 15.3.7): that would pass for a whole body here.
    func resumedLength(from head: ResponseHead) -> Int? {
        guard let range = head.headers["Content-Range"].flatMap(ContentRange.init), range.first == bytes.count,
            !head.hasContentCoding, let length = range.total ?? totalLength, range.last == length - 1,
            length == totalLength ?? length
        else { return nil }
        let current = head.headers[validator.hasPrefix("\"") ? "ETag" : "Last-Modified"]
        return current ?? validator == validator ? length : nil
    }
}

extension ResponseHead {
    /// The validator that proves two bodies equal byte for byte.
    ///
    /// A date does so where it is at least a minute older than the answer itself: within a second a file may change twice.
    ///
    /// - SeeAlso: RFC 9110, section 8.8.
    fileprivate var strongValidator: String? { validatorCandidate.flatMap { $0.containsLineBreakOrNUL ? nil : $0 } }

    private var validatorCandidate: String? {
        if let tag = headers["ETag"] { return tag.hasPrefix("\"") && tag.utf8.count >= 2 ? tag : nil }
        guard let modified = headers["Last-Modified"], let date = headers["Date"] else { return nil }
        let (modificationTime, responseTime) = (curl_getdate(modified, nil), curl_getdate(date, nil))
        return modificationTime >= 0 && responseTime >= 0 && responseTime - modificationTime >= 60 ? modified : nil
    }

    /// How long the server asks to be left alone, in seconds or until a date.
    ///
    /// - SeeAlso: RFC 9110, section 10.2.3.
    func retryAfter(now: Int64) -> Duration? {
        guard [429, 503].contains(status), let field = headers["Retry-After"] else { return nil }
        if let seconds = Int64(field) { return seconds < 0 ? nil : .seconds(min(seconds, 1 << 32)) }
        let date = Int64(curl_getdate(field, nil))
        return date < 0 ? nil : .seconds(max(0, date - now))
    }
}
