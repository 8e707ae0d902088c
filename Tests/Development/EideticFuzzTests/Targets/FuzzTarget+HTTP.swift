import EideticCore

@testable import EideticFetch
@testable import EideticHTTP

extension FuzzTarget {
    /// What servers say: dates, fields, caching, ranges, codings.
    static let http = [
        FuzzTarget(name: "http-date", seeds: { texts(dates) }) {
            _ = HTTPDate.parse(String(decoding: $0, as: UTF8.self), now: now)
        },
        FuzzTarget(
            name: "content-range",
            seeds: { texts(["bytes 100-199/1000", "bytes 0-0/*", "bytes 2-1/3", "pages 0-1/2", "bytes 0-1"]) }
        ) { bytes in
            guard let range = ContentRange(String(decoding: bytes, as: UTF8.self)) else { return }
            require(range.first <= range.last && range.total ?? .max > range.last, "\(range) is no range")
        },
        FuzzTarget(
            name: "cache-control",
            seeds: {
                texts([
                    "max-age=60, private=\"a\"", "no-store, max-stale", "max-age=1, max-age=2, max-age=x", "no-cache",
                ])
            }
        ) { bytes in
            for name in ["Cache-Control", "Pragma"] {
                let control = CacheControl([HTTPField(name: name, value: String(decoding: bytes, as: UTF8.self))])
                require(control.maxAge ?? 0 >= 0 && control.maxStale ?? 0 >= 0, "a negative number of seconds")
                require(control.refusesCached || !control.noCache, "no-cache is not obeyed")
            }
            require(!CacheControl.isRequestField(String(decoding: bytes, as: UTF8.self)) || bytes.count < 14, "a field")
        },
        FuzzTarget(name: "response-head", maximumLength: 1 << 14, seeds: { texts(heads) }, run: readHead),
        FuzzTarget(
            name: "content-coding",
            maximumLength: 1 << 14,
            seeds: { codedBodies },
            run: decodeBody
        ),
    ]

    private static let now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)

    private static let dates = [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "1994-11-06T08:49:37Z", "06 Nov 1994 08:49 +0130", "6 November 94 8:49:37 -0130",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 9999 08:49:37 GMT", "06 Nov 0000 08:49:37", "Nov Nov",
        "06 Nov 1994",
        "Sun Mon 06 Nov 1994 08:49:37", "06 Nov 1994 08:49:37 +9", "94 11 06 Nov", "1994-06 Nov 08:49",
        "\"Sun, 06 Nov 71 1:2:3\"",
        "Sux, 06 Nov 1994 08:49:37 GMT", "Sun, 0x Nov 1994 08:49:37 GMT",
    ]

    private static let heads = [
        """
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
        """,
        "HTTP/1.1 100\r\n\r\nHTTP/1.1 206 Part\r\nContent-Range: bytes 1-2/5\r\nContent-Length: 2, 2\r\nX: \u{e4}\r\n y\r\n\r\n",
        "HTTP/2  300\r\nLocation: /a\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: /a\r\n\r\nTrailer: 1\r\n",
        "HTTP/1.1 401 No\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 503 Busy\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Encoding: gzip, none, br\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", "HTTP/1.1 101 Other\r\n\r\n",
        "HTTP/1.1 200 OK\r\n X: y\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\nno colon\r\n\r\n", "HTTP/1.1 304 Same\r\nContent-Length : 5\r\n\r\n",
    ]

    /// The same text in each coding, several members and frames of it, other bytes behind it, and bytes of no coding.
    private static let codedBodies: [[UInt8]] = {
        let raw: [UInt8] = [115, 205, 76, 73, 45, 201, 76, 86, 112, 29, 165, 201, 162, 1]
        let gzip: [UInt8] =
            [31, 139, 8, 0, 0, 0, 0, 0, 2, 3] + raw + [154, 100, 66, 241, 64, 1, 0, 0]
        let zlib: [UInt8] = [120, 218] + raw + [81, 113, 113, 153]
        let brotli: [UInt8] = [27, 63, 1, 0, 4, 54, 224, 72, 55, 153, 232, 135, 252, 216, 45, 28, 114, 211, 157, 8]
        let zstd: [UInt8] = [
            40, 181, 47, 253, 96, 64, 0, 125, 0, 0, 64, 69, 105, 100, 101, 116, 105, 99, 32, 1, 0, 53, 83, 11, 23,
        ]
        let whole = [gzip, zlib, brotli, zstd].enumerated().map { [UInt8($0)] + $1 }
        return whole
            + [
                [1] + raw, [0] + gzip + gzip, [3] + zstd + zstd, [0] + gzip + [1, 2], [3] + zstd + [1, 2], [128] + gzip,
                [0, 1, 2, 3], [3, 1, 2, 3, 4, 5], [2, 0xff, 0xff], [0], [3] + zstd.dropLast(4), [131] + zstd,
            ]
    }()

    static func texts(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    /// Reads a head as the downloader does, and asks all rules of the cache.
    private static let readHead: @Sendable ([UInt8]) -> Void = { bytes in
        var parser = HeadLineParser()
        _ = bytes.withUnsafeBytes { $0.allLines { !parser.append($0) } }
        var head = parser.head
        _ = (head.framingFault, head.contentLength, head.isPart, head.isRedirect, head.cached)
        require(parser.incompleteHeadError(url: "u").code == .connectionLost, "another error")
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
        _ = (head.retryAfter(now: now), head.contentLength, head.hasContentCoding)
        require(
            HTTPHeaders(fields) == head.headers && head.headers.hashValue == HTTPHeaders(fields).hashValue,
            "unequal"
        )
    }

    /// Decodes a coded body; the first byte selects the coding, and whether it was applied twice.
    private static let decodeBody: @Sendable ([UInt8]) -> Void = { bytes in
        let names = ["gzip", "deflate", "br", "zstd"]
        _ = BodyDecoder.codings(of: ["Content-Encoding": String(decoding: bytes, as: UTF8.self)])
        guard let first = bytes.first, let coding = BodyDecoder.Coding(name: names[Int(first) % 4]),
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
        _ = (coding.isSigned(in: UnsafeRawBufferPointer(start: nil, count: 0)), decoder.hasAllData)
        require(decoder.largestReceivedBytes >= bytes.count - 1, "bytes are not counted")
    }
}
