import EideticCore
import EideticHTTP
import Testing

@Suite("Header fields")
struct FieldTests {
    private let now = Timestamp(seconds: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    @Test(
        "L07 C20 Retry-After is a number of seconds or a date",
        arguments: [
            (503, "120", 120), (429, "0", 0), (503, "Sun, 06 Nov 1994 08:50:37 GMT", 60),
            (503, "Sun, 06 Nov 1994 08:00:00 GMT", 0), (503, "99999999999999999999", 1 << 32), (500, "120", nil),
            (503, "-1", nil), (503, "+1", nil), (503, "1.5", nil), (503, "", nil),
            (503, "Sun,  06 Nov 1994 08:50:37", 60), (503, "tomorrow", nil),
        ] as [(Int, String, Int?)]
    )
    func retryAfter(status: Int, value: String, seconds: Int?) {
        let delay = RetryAfter.delay(status: status, fields: fields("Retry-After: \(value)"), now: now)
        #expect(delay == seconds.map { .seconds($0) })
    }

    @Test(
        "L20 a field that could inject another one is refused",
        arguments: [
            ("X-A", "b", true), ("X-A", "b\r\nX-C: d", false), ("X-A", "b\n", false), ("X-A", "b\0", false),
            ("", "b", false), ("X A", "b", false), ("X:A", "b", false), ("X-A", "", true), ("X-A", "a\tb", true),
            ("X-A", "\u{1f}", false), ("X-A", "\u{7f}", false), ("X-A", "é", true), ("Content-Length", "1", false),
            ("transfer-encoding", "chunked", false),
        ]
    )
    func injection(name: String, value: String, isValid: Bool) {
        var headers: HTTPHeaders = [:]
        headers[name] = value
        #expect((headers.requestError == nil) == isValid)
        #expect(isValid || headers.requestError?.code == .invalidArgument)
    }

    @Test(
        "C20 no-cache and max-age=0 in a request refuse a stored response as it is",
        arguments: [
            ("no-cache", true), ("no-cache=\u{301}", true), ("max-age=0", true), ("max-age=1", false),
            ("no-store", false),
            ("", false),
        ]
    )
    func refusesCached(value: String, expected: Bool) {
        #expect(CacheControl(fields("Cache-Control: \(value)")).refusesCached == expected)
    }

    /// The case `freshness-max-age-space-after-equals` of the public suite, in which all browsers agree.
    @Test(
        "C20 white space behind the equals sign of a directive is ignored",
        arguments: [
            ("max-age= 3600", 3_600), ("max-age=\t\"60\" , public", 60), ("max-age=", 0), ("max-age= a", 0),
            ("max-age=\u{301}5", 0), ("max-age= \u{301}5", 0),
        ]
    )
    func spacedArgument(value: String, seconds: Int) {
        #expect(CacheControl(fields("Cache-Control: \(value)")).maxAge == seconds)
    }

    @Test(
        "L12 Content-Range is parsed strictly",
        arguments: [
            ("bytes 0-9/10", true), ("bytes 5-5/6", true), ("bytes 0-9/*", true), ("BYTES 0-9/10", true),
            ("bytes 0-9/9", false), ("bytes 9-0/10", false), ("bytes +0-9/10", false), ("bytes 0-9/+10", false),
            ("bytes */10", false), ("items 0-9/10", false), ("bytes 0-9", false), ("", false),
            ("bytes 0-9223372036854775806/*", true), ("bytes 0-9223372036854775807/*", false),
            ("bytes 0-99999999999999999999/*", false), ("bytes -0-9/10", false),
        ]
    )
    func contentRange(value: String, isValid: Bool) {
        #expect((ContentRange(value) != nil) == isValid)
    }

    @Test("the case of names and the order of different ones are no difference; values differ byte for byte")
    func equality() {
        let headers: HTTPHeaders = ["Accept": "a", "Range": "b", "accept": "c"]
        #expect(headers == ["range": "b", "ACCEPT": "a", "Accept": "c"])
        #expect(headers.hashValue == (["range": "b", "ACCEPT": "a", "Accept": "c"] as HTTPHeaders).hashValue)
        #expect(headers != ["Accept": "c", "Range": "b", "accept": "a"])
        #expect(headers != ["Accept": "a", "Range": "b"])
        #expect(["A": "\u{e9}"] as HTTPHeaders != ["A": "e\u{301}"])
    }
}
