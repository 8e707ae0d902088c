import EideticHTTP
import Testing

@Suite("Storing and validating responses")
struct StorabilityTests {
    @Test(
        "C20 only responses that may be stored are stored",
        arguments: [
            (200, "", "", true), (200, "Cache-Control: no-store", "", false),
            (200, "Cache-Control: NO-STORE", "", false),
            (200, "Cache-Control: private", "", true), (200, "Cache-Control: private=\"x\"", "", true),
            (200, "Cache-Control: no-cache", "", true), (200, "Cache-Control: no-store, must-understand", "", true),
            (200, "", "Cache-Control: no-store", false), (200, "Vary: *", "", true),
            (200, "Vary: Accept, *", "", true),
            (200, "Vary: Accept", "", true), (404, "", "", true), (410, "", "", true), (301, "", "", true),
            (206, "", "", false), (302, "", "", false), (304, "", "", false), (500, "", "", false),
            (100, "", "", false),
        ]
    )
    func storable(status: Int, response: String, request: String, expected: Bool) {
        let fields = response.isEmpty ? [] : EideticHTTPTests.fields(response)
        let requestFields = request.isEmpty ? [] : EideticHTTPTests.fields(request)
        #expect(Storability.isStorable(status: status, fields: fields, request: requestFields) == expected)
    }

    @Test("C20 each field that Connection names is one of the connection, few or many", arguments: [1, 8, 9, 3_000])
    func namedFields(count: Int) {
        let names = (0..<count).map { "X-Hop\($0)" }
        let fields =
            fields("Connection: " + names.joined(separator: ", "), "ETag: \"a\"")
            + names.flatMap { EideticHTTPTests.fields("\($0.lowercased()): 1") }
        #expect(Storability.storableFields(of: fields).map(\.name) == ["ETag"])
    }

    @Test("C20 fields of the connection are not stored")
    func storedFields() {
        let all = fields(
            "Connection: close, X-Hop",
            "X-Hop: 1",
            "Keep-Alive: 5",
            "TE: x",
            "Transfer-Encoding: chunked",
            "ETag: \"a\"",
            "Upgrade: x",
            "Proxy-Authenticate: x",
            "Content-Type: image/png"
        )
        #expect(Storability.storableFields(of: all).map(\.name) == ["ETag", "Content-Type"])
    }

    @Test(
        "C20 a response suits requests with the same selecting header fields",
        arguments: [
            ("Vary: Accept", ["Accept: image/webp"], ["accept:  image/webp "], true),
            ("Vary: Accept", ["Accept: image/webp"], ["Accept: image/png"], false),
            ("Vary: Accept", ["Accept: image/webp"], [], false), ("Vary: Accept", [], [], true),
            ("Vary: Accept", [], ["Accept: image/webp"], false),
            ("Vary: Accept", ["Accept: a, b"], ["Accept: a", "Accept: b"], true),
            ("Vary: Accept", ["Accept: a,b"], ["Accept: a ,  b"], true),
            ("Vary: Accept", ["Accept: a, b"], ["Accept: b, a"], false),
            (
                "Vary: Accept, Authorization", ["Accept: a", "Authorization: x"], ["Accept: a", "Authorization: y"],
                false
            ),
            ("X: y", ["Accept: a"], ["Accept: b"], true), ("Vary: *", [], [], false),
            ("Vary: accept", ["Accept: a", "User-Agent: x"], ["Accept: a", "User-Agent: y"], true),
        ]
    )
    func varies(_ response: String, stored: [String], requested: [String], expected: Bool) {
        let vary = Vary(fields(response))
        let (first, second) = (stored.flatMap { fields($0) }, requested.flatMap { fields($0) })
        let selection = vary.selection(from: second)
        #expect((selection != nil && selection == vary.selection(from: first)) == expected)
    }

    @Test(
        "C20 weak and strong entity tags are parsed; one in a form of its own is kept as it is",
        arguments: [
            ("\"a\"", false, "a", true), ("W/\"a\"", true, "a", true), ("\"\"", false, "", true),
            (" \"x!y\" ", false, "x!y", true), ("a", false, "a", false), ("\"a", false, "\"a", false),
            ("w/\"a\"", true, "a", false), ("\"a b\"", false, "a b", false), ("W/a", true, "a", false),
            ("'a'", false, "'a'", false), ("\"", false, "\"", false), ("\"a\"b\"", false, "a\"b", false),
            // A combining mark is one character with the sign before it.
            ("\"\u{301}a\"", false, "\u{301}a", true), ("W/\u{301}a", true, "\u{301}a", false),
            ("W/\"\u{301}\"", true, "\u{301}", true), (" \u{301}a", false, "\u{301}a", false),
        ]
    )
    func tags(_ text: String, isWeak: Bool, opaqueTag: String, isWellFormed: Bool) {
        let tag = EntityTag(text)
        #expect(tag.isWeak == isWeak)
        #expect(Array(tag.opaqueTag.utf8) == Array(opaqueTag.utf8))
        #expect(tag.isWellFormed == isWellFormed)
    }

    /// RFC 9110, section 13.1.2, lets a client send what it received, and browsers do (Chromium's `HttpCache`).
    @Test(
        "C20 a validator in any form is sent back as it is, and confirmed by the 304 that repeats it",
        arguments: [
            "\"a\"", "W/\"a\"", "w/\"a\"", "abc", "'abc'", "\"abc", "abc\"", "W/abc", "\"a b\"", "a, b", "\"a\"b\"",
            "\"\u{fc}\"", String(fieldBytes: [0x22, 0xfc, 0x22]), "-1", "0", "\"a\\\"b\"",
        ]
    )
    func anyTag(_ text: String) {
        let stored = [HTTPField(name: "ETag", value: text)]
        #expect(Validators(stored).conditionalFields == [HTTPField(name: "If-None-Match", value: text)])
        #expect(NotModified.confirms(stored, stored: stored))
        #expect(!NotModified.confirms([HTTPField(name: "ETag", value: "\"other\"")], stored: stored))
    }

    @Test(
        "C20 a date in any form is sent back as it is, and confirmed by the 304 that repeats it",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "784111777",
            "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37", "yesterday",
        ]
    )
    func anyDate(_ text: String) {
        let stored = [HTTPField(name: "Last-Modified", value: text)]
        #expect(Validators(stored).conditionalFields == [HTTPField(name: "If-Modified-Since", value: text)])
        #expect(NotModified.confirms(stored, stored: stored))
        #expect(NotModified.confirms([], stored: stored))
        let other = HTTPField(name: "Last-Modified", value: "Mon, 07 Nov 1994 08:49:37 GMT")
        #expect(!NotModified.confirms([other], stored: stored))
    }

    /// Chromium 156 sends the first field back, and uses the image after the 304.
    @Test("C20 of several tags the first one is sent back, any of them is confirmed, and none is strong")
    func severalTags() {
        let stored = ["\"a\"", "\"b\""].map { HTTPField(name: "ETag", value: $0) }
        #expect(Validators(stored).conditionalFields == [HTTPField(name: "If-None-Match", value: "\"a\"")])
        #expect(Validators(stored).strongValidator == nil)
        for answer in [stored, [stored[0]], [stored[1]], []] { #expect(NotModified.confirms(answer, stored: stored)) }
        #expect(!NotModified.confirms([HTTPField(name: "ETag", value: "\"c\"")], stored: stored))
    }

    @Test("C20 an empty tag and * are no condition", arguments: [[""], ["*"]])
    func noCondition(_ tags: [String]) {
        #expect(Validators(tags.map { HTTPField(name: "ETag", value: $0) }).conditionalFields.isEmpty)
    }

    /// RFC 9110, section 5.5: a recipient should treat bytes above 7F as opaque data.
    @Test(
        "C20 the bytes of a field are those that were received",
        arguments: [
            [0x61], [0x22, 0xfc, 0x22], [0xc3, 0xa9], [0xc3, 0xa9, 0xe9], [0xee, 0xbe, 0x80], [0xee, 0x80, 0x80],
            [0xff, 0x80],
            [0xed, 0xa0, 0x80], [],
        ] as [[UInt8]]
    )
    func fieldBytes(_ bytes: [UInt8]) {
        #expect(String(fieldBytes: bytes).fieldBytes == bytes)
    }

    @Test("C20 entity tags are compared as in the table of RFC 9110")
    func compares() {
        let texts = [
            "W/\"1\"", "W/\"2\"", "\"1\"", "\"1\"", "\"\u{301}a\"", "\"\u{302}a\"", "\"\u{e9}\"", "\"e\u{301}\"",
        ]
        let tags = texts.map { EntityTag($0) }
        let table = [(0, 0, true), (0, 1, false), (0, 2, true), (2, 3, true), (4, 5, false), (6, 7, false)]
        for (left, right, weak) in table {
            #expect(tags[left].weaklyMatches(tags[right]) == weak)
        }
    }

    @Test("C20 a conditional request contains the stored validators")
    func conditions() {
        let lastModified = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
        let both = Validators(fields("ETag: W/\"a\"", lastModified, "Date: Sun, 06 Nov 1994 08:50:37 GMT"))
        #expect(
            both.conditionalFields == [
                HTTPField(name: "If-None-Match", value: "W/\"a\""),
                HTTPField(name: "If-Modified-Since", value: "Sun, 06 Nov 1994 08:49:37 GMT"),
            ]
        )
    }

    @Test("L12 C20 a strong validator is a strong tag, or a date at least a minute before the response's")
    func strong() {
        let lastModified = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(Validators(fields("ETag: \"a\"", lastModified)).strongValidator == "\"a\"")
        for tags in [["ETag: W/\"a\""], ["ETag: broken"], ["ETag: \"a\"", "ETag: \"b\""]] {
            let others = [lastModified, "Date: Sun, 06 Nov 1994 09:49:37 GMT"]
            #expect(Validators((tags + others).flatMap { fields($0) }).strongValidator == nil)
        }
        for (time, isStrong) in [("08:50:36", false), ("08:50:37", true), ("08:50:38", true), ("08:49:36", false)] {
            let validators = Validators(fields(lastModified, "Date: Sun, 06 Nov 1994 \(time) GMT"))
            #expect((validators.strongValidator != nil) == isStrong)
        }
    }

    @Test(
        "C20 a 304 response selects the stored response with its validator",
        arguments: [
            (["ETag: \"a\""], ["ETag: \"a\""], true), (["ETag: \"b\""], ["ETag: \"a\""], false),
            (["ETag: W/\"a\""], ["ETag: \"a\""], true), (["ETag: \"a\""], ["ETag: W/\"a\""], true),
            ([], ["ETag: \"a\""], true),
            (["ETag: \"a\""], ["X: y"], false),
            (["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], true),
            (["Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT"], ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], false),
        ]
    )
    func matches(_ answer: [String], stored: [String], expected: Bool) {
        let (answer, stored) = (answer.flatMap { fields($0) }, stored.flatMap { fields($0) })
        #expect(NotModified.confirms(answer, stored: stored) == expected)
    }

    @Test("C20 a 304 response updates the stored fields, except those of the body")
    func merges() {
        let stored = fields(
            "Content-Type: image/png",
            "Content-Length: 9",
            "ETag: \"a\"",
            "Cache-Control: max-age=1",
            "Age: 100",
            "X: old",
            "X: older",
            "Kept: yes"
        )
        let answer = fields(
            "Content-Type: text/html",
            "content-length: 0",
            "Content-Encoding: gzip",
            "cache-control: max-age=60",
            "x: new",
            "Connection: close",
            "Date: Sun, 06 Nov 1994 08:49:37 GMT"
        )
        let merged = NotModified.merge(answer, into: stored).map { "\($0.name):\($0.value)" }
        #expect(
            merged == [
                "Content-Type: image/png", "Content-Length: 9", "ETag: \"a\"", "Kept: yes", "cache-control: max-age=60",
                "x: new", "Date: Sun, 06 Nov 1994 08:49:37 GMT",
            ]
        )
    }
}
