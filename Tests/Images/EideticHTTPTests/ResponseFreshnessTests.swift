import EideticCore
import EideticHTTP
import Testing

/// Returns header fields written as lines.
func fields(_ lines: String...) -> [HTTPField] {
    lines.map { line in
        let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
        return HTTPField(name: parts[0], value: parts.count == 2 ? parts[1] : "")
    }
}

/// The time at which all responses of the tests are received: `Sun, 06 Nov 1994 08:49:37 GMT`.
let responseTime = Timestamp(seconds: 784_111_777)
private let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT"

@Suite("Freshness of responses")
struct ResponseFreshnessTests {
    private func freshness(_ lines: [HTTPField], status: Int = 200) -> ResponseFreshness {
        ResponseFreshness(.init(status: status, fields: lines, requestTime: responseTime, responseTime: responseTime))
    }

    @Test(
        "C21 no date of a server and no heuristic is out of range",
        arguments: [-1e300, -1, 0, 0.1, 1, 2, 1e300, .infinity, .nan]
    )
    func extremeDates(_ fraction: Double) {
        var heuristic = FreshnessHeuristic()
        (heuristic.fraction, heuristic.maximumLifetime) = (fraction, .seconds(Int64.max))
        let dates = ["Mon, 01 Jan 0000 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"]
        for (sent, changed) in dates.flatMap({ sent in dates.map { (sent, $0) } }) {
            for expires in [[], fields("Expires: \(changed)"), fields("Cache-Control: max-age=99999999999999999999")] {
                for time in [Timestamp(nanoseconds: .min), responseTime, Timestamp(nanoseconds: .max)] {
                    let fields =
                        fields("Date: \(sent)", "Last-Modified: \(changed)", "Age: 99999999999999999999") + expires
                    let response = ResponseFreshness.Response(fields: fields, requestTime: time, responseTime: time)
                    let freshness = ResponseFreshness(response, heuristic: heuristic)
                    #expect(freshness.freshnessLifetime >= .zero)
                    #expect(freshness.currentAge(at: time) >= .zero)
                    #expect(freshness.staleness(at: Timestamp(nanoseconds: .max)) >= .zero)
                    _ = (freshness.expirationTime, freshness.reuse(at: time), freshness.isFresh(at: time))
                }
            }
        }
    }

    struct Lifetime: Sendable, CustomTestStringConvertible {
        let fields: [HTTPField]
        let seconds: Int
        let status: Int

        init(seconds: Int, lines: String..., status: Int = 200) {
            self.seconds = seconds
            self.status = status
            fields = lines.map { line in
                let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
                return HTTPField(name: parts[0], value: parts.count == 2 ? parts[1] : "")
            }
        }

        var testDescription: String { fields.map { "\($0.name):\($0.value)" }.joined(separator: " | ") }
    }

    static let lifetimes: [Lifetime] = [
        // RFC 9111, 4.2.1: max-age, then Expires − Date, then a heuristic.
        Lifetime(seconds: 60, lines: "Cache-Control: max-age=60"),
        Lifetime(seconds: 60, lines: "cache-control: MAX-AGE=60"),
        Lifetime(seconds: 60, lines: "Cache-Control: max-age=\"60\""),
        Lifetime(seconds: 60, lines: "Cache-Control: public, max-age=60 , foo=\"a, b\""),
        Lifetime(seconds: 60, lines: "Cache-Control: foo=\"max-age=5, \\\" max-age=7\", max-age=60"),
        Lifetime(seconds: 60, lines: "Cache-Control: public", "Cache-Control: max-age=60"),
        Lifetime(seconds: 60, lines: "Cache-Control: max-age=60, max-age=60"),
        Lifetime(seconds: 60, lines: "Cache-Control: max-age=60", date, "Expires: Sun, 06 Nov 1994 09:49:37 GMT"),
        Lifetime(seconds: 60, lines: "Cache-Control: s-maxage=5, max-age=60"),
        Lifetime(seconds: 1 << 31, lines: "Cache-Control: max-age=2147483648"),
        Lifetime(seconds: 1 << 31, lines: "Cache-Control: max-age=99999999999999999999"),
        Lifetime(seconds: 0, lines: "Cache-Control: max-age=0"),
        // Invalid freshness information makes the response stale.
        Lifetime(seconds: 0, lines: "Cache-Control: max-age=60, max-age=61"),
        Lifetime(seconds: 0, lines: "Cache-Control: max-age=-60"),
        Lifetime(seconds: 0, lines: "Cache-Control: max-age=60.5"),
        Lifetime(seconds: 0, lines: "Cache-Control: max-age=1h"),
        Lifetime(seconds: 60, lines: "Cache-Control: max-age= 60"),
        Lifetime(seconds: 0, lines: "Cache-Control: max-age"),
        Lifetime(seconds: 0, lines: "Cache-Control: max-age=", date, "Expires: Sun, 06 Nov 1994 09:49:37 GMT"),
        Lifetime(seconds: 0, lines: "Cache-Control: max-age=\"60"),
        // Expires.
        Lifetime(seconds: 3_600, lines: date, "Expires: Sun, 06 Nov 1994 09:49:37 GMT"),
        Lifetime(seconds: 3_600, lines: "Expires: Sun, 06 Nov 1994 09:49:37 GMT"),
        Lifetime(seconds: 3_600, lines: date, "Expires: Sunday, 06-Nov-94 09:49:37 GMT"),
        Lifetime(seconds: 3_600, lines: date, "Expires: Sun Nov  6 09:49:37 1994"),
        Lifetime(seconds: 0, lines: date, "Expires: Sun, 06 Nov 1994 08:00:00 GMT"),
        Lifetime(seconds: 0, lines: date, "Expires: 0"),
        Lifetime(seconds: 0, lines: date, "Expires: -1"),
        Lifetime(
            seconds: 0,
            lines: date,
            "Expires: Sun, 06 Nov 1994 09:49:37 GMT",
            "Expires: Sun, 06 Nov 1994 09:49:38 GMT"
        ),
        Lifetime(seconds: 1 << 31, lines: date, "Expires: Fri, 31 Dec 9999 23:59:59 GMT"),
        // Heuristic: a tenth of the time since the last change, at most a day.
        Lifetime(seconds: 360, lines: date, "Last-Modified: Sun, 06 Nov 1994 07:49:37 GMT"),
        Lifetime(seconds: 86_400, lines: date, "Last-Modified: Sun, 06 Nov 1993 08:49:37 GMT"),
        Lifetime(seconds: 0, lines: date, "Last-Modified: Sun, 06 Nov 1994 09:49:37 GMT"),
        Lifetime(seconds: 0, lines: date, "Last-Modified: yesterday"),
        Lifetime(seconds: 0, lines: date, "ETag: \"a\""),
        Lifetime(seconds: 0, lines: date, "Expires: 0", "Last-Modified: Sun, 06 Nov 1993 08:49:37 GMT"),
        Lifetime(seconds: 0, lines: date, "Last-Modified: Sun, 06 Nov 1994 07:49:37 GMT", status: 302),
        Lifetime(
            seconds: 360,
            lines: date,
            "Last-Modified: Sun, 06 Nov 1994 07:49:37 GMT",
            "Cache-Control: public",
            status: 302
        ),
        Lifetime(seconds: 360, lines: date, "Last-Modified: Sun, 06 Nov 1994 07:49:37 GMT", status: 404),
    ]

    @Test("C20 the freshness lifetime follows from the response's fields", arguments: lifetimes)
    func lives(_ row: Lifetime) {
        #expect(freshness(row.fields, status: row.status).freshnessLifetime == .seconds(row.seconds))
    }

    @Test(
        "C20 the age counts from the generation of the response at its origin",
        arguments: [
            (["Date: Sun, 06 Nov 1994 08:49:37 GMT"], 0, 0), (["Date: Sun, 06 Nov 1994 08:49:27 GMT"], 0, 10),
            (["Date: Sun, 06 Nov 1994 09:49:37 GMT"], 0, 0), ([], 0, 0), ([], 7, 7), (["Age: 30"], 0, 30),
            (["Age: 30"], 7, 37), (["Age: 30", "Date: Sun, 06 Nov 1994 08:48:37 GMT"], 0, 60),
            (["Age: 90, 20", "Date: Sun, 06 Nov 1994 08:48:37 GMT"], 0, 90), (["Age: -5"], 0, 0), (["Age: 1.5"], 0, 0),
            (["Age: x"], 0, 0), (["Age: 99999999999999999999"], 0, 1 << 31),
        ]
    )
    func ages(_ lines: [String], delay: Int, age: Int) {
        let fields = lines.flatMap { EideticHTTPTests.fields($0) }
        let response = ResponseFreshness.Response(
            fields: fields,
            requestTime: responseTime + .seconds(-delay),
            responseTime: responseTime
        )
        let freshness = ResponseFreshness(response)
        #expect(freshness.correctedInitialAge == .seconds(age))
        #expect(freshness.currentAge(at: responseTime + .seconds(5)) == .seconds(age + 5))
        #expect(freshness.currentAge(at: responseTime + .seconds(-5)) == .seconds(age))
    }

    @Test(
        "C20 RFC 5861 a stale response is reused as its directives allow",
        arguments: [
            ("max-age=60", "", 59, ResponseFreshness.Reuse.fresh), ("max-age=60", "", 60, .afterValidation),
            ("max-age=60, stale-while-revalidate=30", "", 60, .staleWhileRevalidating),
            ("max-age=60, stale-while-revalidate=30", "", 89, .staleWhileRevalidating),
            ("max-age=60, stale-while-revalidate=30", "", 90, .afterValidation),
            ("max-age=60, stale-while-revalidate=x", "", 60, .afterValidation),
            ("max-age=60, stale-while-revalidate=30, must-revalidate", "", 60, .afterValidation),
            ("max-age=60, no-cache", "", 1, .afterValidation), ("max-age=60, no-cache=\"x\"", "", 1, .afterValidation),
            ("no-cache, stale-while-revalidate=30", "", 1, .afterValidation), ("", "", 1, .afterValidation),
            // Directives of the request.
            ("max-age=60", "no-cache", 1, .afterValidation), ("max-age=60", "max-age=10", 10, .fresh),
            ("max-age=60", "max-age=10", 11, .afterValidation), ("max-age=60", "max-age=0", 1, .afterValidation),
            ("max-age=60", "min-fresh=10", 49, .fresh), ("max-age=60", "min-fresh=10", 50, .afterValidation),
            ("max-age=60", "max-stale=10", 70, .fresh), ("max-age=60", "max-stale=10", 71, .afterValidation),
            ("max-age=60", "max-stale", 100_000, .fresh),
            ("max-age=60, must-revalidate", "max-stale", 61, .afterValidation),
        ]
    )
    func reuse(_ control: String, request: String, age: Int, expected: ResponseFreshness.Reuse) {
        let requestFields = request.isEmpty ? [] : fields("Cache-Control: \(request)")
        let freshness = freshness(control.isEmpty ? [] : fields("Cache-Control: \(control)"))
        #expect(freshness.reuse(at: responseTime + .seconds(age), request: requestFields) == expected)
    }

    @Test("C20 Pragma applies to a request without Cache-Control")
    func pragma() {
        let freshness = freshness(fields("Cache-Control: max-age=60"))
        #expect(freshness.reuse(at: responseTime, request: fields("Pragma: no-cache")) == .afterValidation)
        #expect(
            freshness.reuse(at: responseTime, request: fields("Pragma: no-cache", "Cache-Control: max-age=5")) == .fresh
        )
    }

    @Test(
        "C20 RFC 5861 a stale response is served after an error as its directives allow",
        arguments: [
            ("max-age=60, stale-if-error=30", 500, 89, true), ("max-age=60, stale-if-error=30", 503, 90, false),
            ("max-age=60, stale-if-error=30", nil, 89, true), ("max-age=60, stale-if-error=30", nil, 90, false),
            ("max-age=60, stale-if-error=30", 404, 61, false), ("max-age=60, stale-if-error=x", 500, 61, false),
            ("max-age=60, stale-if-error=30, must-revalidate", 500, 61, false),
            ("max-age=60, stale-if-error=30, no-cache", nil, 61, false), ("max-age=60", 500, 61, false),
            ("max-age=60", 500, 59, true), ("max-age=60", nil, 1_000_000, true),
            ("max-age=60, must-revalidate", nil, 61, false),
        ]
    )
    func staleAfterError(_ control: String, status: Int?, age: Int, expected: Bool) {
        let freshness = freshness(fields("Cache-Control: \(control)"))
        #expect(freshness.allowsStaleAfterError(at: responseTime + .seconds(age), status: status) == expected)
    }

    @Test("C20 a request may contain stale-if-error, and a cache may refuse to serve stale responses")
    func errorOnRequest() {
        let freshness = freshness(fields("Cache-Control: max-age=60"))
        let later = responseTime + .seconds(70)
        #expect(
            freshness.allowsStaleAfterError(at: later, status: 500, request: fields("Cache-Control: stale-if-error=20"))
        )
        #expect(!freshness.allowsStaleAfterError(at: later, status: nil, whenUnreachable: false))
    }

    @Test("C20 the expiration time follows from lifetime and age")
    func staleFrom() {
        let freshness = freshness(fields("Cache-Control: max-age=60", "Age: 20"))
        #expect(freshness.expirationTime == responseTime + .seconds(40))
        #expect(freshness.staleness(at: responseTime + .seconds(50)) == .seconds(10))
    }
}
