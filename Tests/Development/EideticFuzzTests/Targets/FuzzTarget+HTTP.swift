import EideticCore

@testable import EideticFetch
@testable import EideticHTTP

extension FuzzTarget {
    /// What servers say: dates, fields, caching, ranges, codings.
    static let http = [
        FuzzTarget(name: "http-date", seeds: { texts(["Sun, 06 Nov 1994 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]) }) {
            _ = HTTPDate.parse(String(decoding: $0, as: UTF8.self), now: now)
        },
        FuzzTarget(name: "content-range", seeds: { texts(["bytes 100-199/1000", "bytes 0-0/*"]) }) { bytes in
            guard let range = ContentRange(String(decoding: bytes, as: UTF8.self)) else { return }
            require(range.first <= range.last && range.total ?? .max > range.last, "\(range) is no range")
        },
        FuzzTarget(name: "cache-control", seeds: { texts(["max-age=60, private=\"a\"", "no-store, max-stale"]) }) {
            let field = HTTPField(name: "Cache-Control", value: String(decoding: $0, as: UTF8.self))
            let control = CacheControl([field])
            require(control.maxAge ?? 0 >= 0 && control.maxStale ?? 0 >= 0, "a negative number of seconds")
        },
        FuzzTarget(name: "response-head", maximumLength: 1 << 14, seeds: { texts([head]) }, run: readHead),
        FuzzTarget(
            name: "content-coding",
            maximumLength: 1 << 14,
            seeds: { [[0, 0x1f, 0x8b, 8, 0]] },
            run: decodeBody
        ),
    ]

    private static let now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)

    private static let head = """
        HTTP/1.1 200 OK\r
        Date: Sun, 06 Nov 1994 08:49:37 GMT\r
        Cache-Control: max-age=60, stale-while-revalidate=30\r
        ETag: W/"a"\r
        Vary: Accept, *\r
        Age: 3\r
        Expires: 0\r
        Retry-After: 120\r
        Content-Range: bytes 0-1/2\r
        \r\n
        """

    static func texts(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    /// Reads a head as the downloader does, and asks all rules of the cache.
    private static let readHead: @Sendable ([UInt8]) -> Void = { bytes in
        var parser = HeadLineParser()
        _ = bytes.withUnsafeBytes { $0.allLines { !parser.append($0) } }
        var head = parser.head
        _ = (head.framingFault, head.contentLength, head.isPart)
        (head.requestTime, head.responseTime) = (now, now + .milliseconds(20))
        ask(head)
    }

    private static func ask(_ head: ResponseHead) {
        let fields = head.headers.fields
        let response = ResponseFreshness.Response(
            status: head.status,
            fields: fields,
            requestTime: head.requestTime,
            responseTime: head.responseTime
        )
        let freshness = ResponseFreshness(response)
        _ = freshness.reuse(at: now, request: fields)
        require(freshness.currentAge(at: now) >= .zero && freshness.staleness(at: now) >= .zero, "a negative age")
        _ = (freshness.expirationTime, ResponseFreshness.explicitRemainder(of: response, at: now))
        _ = Storability.isStorable(status: head.status, fields: fields, request: fields)
        let stored = Storability.storableFields(of: fields)
        _ = (NotModified.merge(fields, into: stored), NotModified.confirms(fields, stored: stored))
        _ = (Vary(fields).selection(from: fields), Validators(fields).strongValidator, head.resumptionValidator)
        _ = (RetryAfter.delay(status: head.status, fields: fields, now: now), head.contentLength, head.hasContentCoding)
        require(
            HTTPHeaders(fields) == head.headers && head.headers.hashValue == HTTPHeaders(fields).hashValue,
            "unequal"
        )
    }

    /// Decodes a coded body; the first byte selects the coding, and whether it was applied twice.
    private static let decodeBody: @Sendable ([UInt8]) -> Void = { bytes in
        let names = ["gzip", "deflate", "br"]
        guard let first = bytes.first, let coding = BodyDecoder.Coding(name: names[Int(first) % 3]),
            let decoder = BodyDecoder(first < 128 ? [coding] : [coding, coding])
        else { return }
        var total = 0
        for part in [bytes[1..<(bytes.count + 1) / 2], bytes[max(1, (bytes.count + 1) / 2)...]] {
            part.withUnsafeBytes { decoder.append($0) }
            while decoder.hasPendingBytes, total < 1 << 21 {
                guard let step = decoder.decodeStep() else { return }
                total += step.bytes.count
            }
        }
    }
}
