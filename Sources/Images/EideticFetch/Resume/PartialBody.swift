import EideticCore
package import EideticHTTP

/// The beginning of a body whose download was interrupted, and the validator with which it can be resumed.
package struct PartialBody: Sendable {
    package let bytes: [UInt8]
    /// The header fields of the response that the body belongs to, without those of its connection.
    package let headers: HTTPHeaders
    /// The checksum of the URL that sent the body, after all redirects and without its query.
    ///
    /// A validator means nothing anywhere else; redirects to signed URLs have a new query each time.
    package let target: UInt64
    /// The checksum of the same URL with its query.
    let exactTarget: UInt64
    /// A strong validator, for the `If-Range` field.
    let validator: String
    /// The length of the complete body; `nil` if it is unknown.
    let totalLength: Int?

    /// Creates the beginning of a body; `nil` if it cannot be resumed, or is complete.
    package init?(bytes: [UInt8], headers: HTTPHeaders, target: UInt64, exactTarget: UInt64) {
        var head = ResponseHead()
        head.status = 200
        head.headers = headers
        guard let validator = head.resumptionValidator, !bytes.isEmpty else { return nil }
        totalLength = head.contentLength
        if headers["Content-Length"] != nil, totalLength ?? 0 <= bytes.count { return nil }
        self.bytes = bytes
        self.headers = headers
        self.target = target
        self.exactTarget = exactTarget
        self.validator = validator
    }

    /// Creates the beginning of a body that has arrived with the head of a response to a request without a range.
    ///
    /// A compressed body cannot be resumed, because positions count in the compressed bytes, which are not available.
    init?(bytes: [UInt8], head: ResponseHead, url: String) {
        guard head.status == 200 || head.status == 206 else { return nil }
        var headers = HTTPHeaders(Storability.storableFields(of: head.headers.fields))
        // The field beside which it has no meaning is not among them.
        if !head.endsByLength { headers["Content-Length"] = nil }
        let exactTarget = Self.exactTarget(of: url)
        self.init(bytes: bytes, headers: headers, target: Self.target(of: url), exactTarget: exactTarget)
    }

    /// Creates a partial body from an interrupted exchange; `nil` without a strong validator.
    init?(outcome: ExchangeOutcome, url: String, resuming earlier: PartialBody?) {
        guard var head = outcome.head else { return nil }
        if head.status == 206 {
            guard let earlier else { return nil }
            head = earlier.completed(head)
        }
        self.init(bytes: outcome.body, head: head, url: url)
    }

    /// Returns the checksum by which the URL of a body is recognised.
    static func target(of url: String) -> UInt64 {
        Array(url.utf8.prefix { $0 != UInt8(ascii: "?") }).withUnsafeBytes { Checksum.value(of: $0) }
    }

    package static func exactTarget(of url: String) -> UInt64 { Array(url.utf8).withUnsafeBytes(Checksum.value) }

    /// The header fields that request the remainder.
    package var rangeHeaders: HTTPHeaders {
        ["Range": "bytes=\(bytes.count)-", "If-Range": validator, "Accept-Encoding": "identity"]
    }

    /// Returns the length of the complete body, or `nil` if a response with status 206 is not the remainder of this
    /// body.
    ///
    /// A server may send less than requested (RFC 9110, section 15.3.7); the body would then be incomplete.
    func resumedLength(from head: ResponseHead, url: String) -> Int? {
        guard let range = head.headers["Content-Range"].flatMap(ContentRange.init), range.first == bytes.count,
            !head.hasContentCoding, let length = range.total ?? totalLength, range.last == length - 1,
            length == totalLength ?? length, Self.target(of: url) == target
        else { return nil }
        let isTag = validator.utf8.first == UInt8(ascii: "\"")
        let current = head.headers[isTag ? "ETag" : "Last-Modified"]
        // A remainder without the tag may be of a changed file (RFC 9110, section 15.3.7, requires it).
        if isTag { return current.hasSameBytes(as: validator) ? length : nil }
        return (current ?? validator).hasSameBytes(as: validator) ? length : nil
    }

    /// Returns the head of the complete response, for the head of the remainder of this body.
    ///
    /// - SeeAlso: RFC 9111, section 3.4.
    func completed(_ remainder: ResponseHead) -> ResponseHead {
        var head = remainder
        let range = remainder.headers["Content-Range"].flatMap(ContentRange.init)
        let ofPart = ["content-range", "content-length", "transfer-encoding"]
        let newer = remainder.headers.filter { !ofPart.contains($0.lowercased()) }
        head.headers = headers.merging(newer)
        if let length = range?.total { head.headers["Content-Length"] = String(length) }
        head.status = 200
        head.reasonPhrase = ""
        return head
    }
}

extension ResponseHead {
    /// The validator with which the body can be resumed; `nil` if it cannot.
    var resumptionValidator: String? {
        guard status == 200 || status == 206, !hasContentCoding, headers["Accept-Ranges"]?.lowercased() != "none" else {
            return nil
        }
        return Validators(headers.fields).strongValidator
    }
}
