import EideticCore
import EideticHTTP
import Testing

@Suite("HTTP dates")
struct HTTPDateTests {
    private let now = Timestamp(seconds: 1_767_225_600)  // 2026-01-01

    @Test(
        "C20 the three formats of dates are parsed",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun Nov 16 08:49:37 1994", 784_975_777),
            ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Friday, 01-Jan-76 00:00:00 GMT", 3_345_062_400), ("Saturday, 01-Jan-77 00:00:00 GMT", 220_924_800),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
        ]
    )
    func reads(_ text: String, seconds: Int64) {
        #expect(HTTPDate.parse(text, now: now)?.seconds == seconds)
    }

    @Test("C20 a date in the preferred format is what the same parts in another order are, valid or not")
    func preferredFormat() {
        var random = Generator()
        let words = ["Jan", "feb", "MAR", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Xyz"]
        let days = ["Mon", "tue", "Wed", "Thu", "Fri", "Sat", "SUN", "Sum"]
        func number(_ range: ClosedRange<Int>, digits: Int) -> String {
            let text = String(Int.random(in: range, using: &random))
            return String(repeating: "0", count: digits - text.count) + text
        }
        for _ in 0..<20_000 {
            let name = days.randomElement(using: &random) ?? "", word = words.randomElement(using: &random) ?? ""
            let day = number(0...32, digits: 2), year = number(0...9_999, digits: 4)
            let clock = [0...24, 0...60, 0...61].map { number($0, digits: 2) }.joined(separator: ":")
            let preferred = HTTPDate.parse("\(name), \(day) \(word) \(year) \(clock) GMT", now: now)
            #expect(preferred == HTTPDate.parse("\(day) \(word) \(year)  \(clock) GMT, \(name)", now: now))
        }
    }

    /// The public suite of HTTP caches shows that Chromium, Firefox and Safari use responses with these `Expires`
    /// (`freshness-expires-invalid-*`), Chromium and Firefox also those with two digits of the year.
    ///
    /// Chromium 156 did not ask again for images with the dates of the last line.
    @Test(
        "C20 dates that browsers read are read",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 06 Nov 1994 08:49:37 -0000", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov  1994 08:49:37  GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 10:49:37 +0200", "Sun, 06 Nov 1994 03:19:37 -0530", "Sun, 06 Nov 1994 08:49:37 z",
            "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994\t08:49:37 GMT", " Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 November 1994 08:49:37 GMT", "\"Sun, 06 Nov 1994 08:49:37 GMT\"", "1994-11-06T08:49:37Z",
            "1994 06 Nov 08:49:37 GMT", "1994 Nov 06 08:49:37 GMT", "08:49:37 1994 Sunday 06-Nov",
        ]
    )
    func readsAsBrowsers(_ text: String) {
        #expect(HTTPDate.parse(text, now: now)?.seconds == 784_111_777)
    }

    @Test("C20 a day after the year and before the name of the month is a day, also one that may be a month")
    func readsDayAfterYear() {
        for day in 1...30 {
            let text = day < 10 ? "0\(day)" : "\(day)"
            let expected = HTTPDate.parse("\(text) Nov 1994 08:49:37 GMT", now: now)
            #expect(expected != nil && HTTPDate.parse("1994 \(text) Nov 08:49:37 GMT", now: now) == expected)
        }
    }

    @Test("C20 a date without seconds is read, as in Chromium 156")
    func readsWithoutSeconds() {
        #expect(HTTPDate.parse("Sun, 06 Nov 1994 08:49 GMT", now: now)?.seconds == 784_111_740)
    }

    @Test(
        "C20 an invalid date is rejected",
        arguments: [
            "", "0", "-1", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nov 1994 08:49:37 AEST",
            "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08 GMT",
            "Sun, 06 Nov 1994 08.49.37 GMT", "1994-13-06T08:49:37Z", "Sunxday, 06-Nov-94 08:49:37 GMT",
            "Xxx, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 29 Feb 2023 00:00:00 GMT",
            "Sun, 06 Nov 199 08:49:37 GMT", "Sun, 06 Nov 19940 08:49:37 GMT", "Sun, 06 Nov 08:49:37 GMT",
            "Sun, 06 Nov Dec 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT UTC", "Sun, 06 Nov 1994 08:49:37 +00",
            "Sun, 06 Nov 1994 08:49:37 +0060", "Sun Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06--Nov-1994 08:49:37 GMT",
            "1994 06 Nov Dec 08:49:37 GMT", "1994 06 Nov 06 08:49:37 GMT", "1994 11 06 Nov 08:49:37 GMT",
        ]
    )
    func refuses(_ text: String) {
        #expect(HTTPDate.parse(text, now: now) == nil)
    }

    @Test("C20 a date outside the range of timestamps is clamped")
    func clamps() {
        #expect(HTTPDate.parse("Fri, 31 Dec 9999 23:59:59 GMT", now: now)?.nanoseconds == .max)
        #expect(HTTPDate.parse("Mon, 01 Jan 0001 00:00:00 GMT", now: now).map { $0 < now } == true)
    }
}

private struct Generator: RandomNumberGenerator {
    private var state: UInt64 = 47

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 33
    }
}
