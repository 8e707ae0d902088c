import EideticHTTP

/// The beginning of a body whose download was interrupted, and the validator with which it can be resumed.
struct PartialBody: Sendable {
    let bytes: [UInt8]
    /// A strong validator, for the `If-Range` field.
    let validator: String
    /// The length of the complete body; `nil` if it is unknown.
    let totalLength: Int?

    init(bytes: [UInt8], validator: String, totalLength: Int?) {
        self.bytes = bytes
        self.validator = validator
        self.totalLength = totalLength
    }

    /// Creates a partial body from an interrupted exchange; `nil` without a strong validator.
    ///
    /// A compressed body cannot be resumed, because positions count in the compressed bytes, which are not available.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the exchange.
    ///   - earlier: The partial body that the exchange resumed.
    init?(outcome: ExchangeOutcome, resuming earlier: PartialBody?) {
        guard let head = outcome.head, !outcome.body.isEmpty, let validator = head.resumptionValidator else {
            return nil
        }
        let range = head.headers["Content-Range"].flatMap(ContentRange.init)
        // With status 206 the content length is that of the range.
        let totalLength = head.status == 206 ? range?.total ?? earlier?.totalLength : head.contentLength
        if let totalLength, outcome.body.count >= totalLength { return nil }
        self.init(bytes: outcome.body, validator: validator, totalLength: totalLength)
    }

    /// The header fields that request the remainder.
    var rangeHeaders: HTTPHeaders {
        ["Range": "bytes=\(bytes.count)-", "If-Range": validator, "Accept-Encoding": "identity"]
    }

    /// Returns the length of the complete body, or `nil` if a response with status 206 is not the remainder of this
    /// body.
    ///
    /// A server may send less than requested (RFC 9110, section 15.3.7); the body would then be incomplete.
    func resumedLength(from head: ResponseHead) -> Int? {
        guard let range = head.headers["Content-Range"].flatMap(ContentRange.init), range.first == bytes.count,
            !head.hasContentCoding, let length = range.total ?? totalLength, range.last == length - 1,
            length == totalLength ?? length
        else { return nil }
        let current = head.headers[validator.hasPrefix("\"") ? "ETag" : "Last-Modified"]
        return (current ?? validator).hasSameBytes(as: validator) ? length : nil
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
