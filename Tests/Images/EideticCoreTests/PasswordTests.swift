import EideticCore
import Testing

@Suite("Passwords in texts")
struct PasswordTests {
    /// The first nine are loaded with Basic credentials, as in browsers.
    @Test(
        "C18 a text has no password of a URL in any form that is loaded, nor one of another scheme",
        arguments: [
            ("http:bob:SECRET@h/a", "http:bob:…@h/a"), ("http:/bob:SECRET@h", "http:/bob:…@h"),
            ("http://bob:SECRET@h/a", "http://bob:…@h/a"), ("HTTP:///bob:SECRET@h", "HTTP:///bob:…@h"),
            ("https:////bob:SECRET@h/a?b", "https:////bob:…@h/a?b"), (#"http:\bob:SECRET@h"#, #"http:\bob:…@h"#),
            (#"http:\/\bob:SECRET@h\a"#, #"http:\/\bob:…@h\a"#), ("http://bob:SECR@ET@h/a@b", "http://bob:…@h/a@b"),
            ("http:/\t/bob:SEC\nRET@h", "http:/\t/bob:…@h"), ("http://SECRET@h", "http://…@h"),
            ("http:SECRET@h", "http:…@h"), ("ftp:bob:SECRET@h", "ftp:bob:…@h"), ("ftp://bob:SECRET@h", "ftp://bob:…@h"),
            ("redis://:SECRET@h", "redis://:…@h"), ("htpp:bob:SECRET@h", "htpp:bob:…@h"),
            ("http://bob:SECRET@\u{301}h/a", "http://bob:…@\u{301}h/a"),
            ("http:\u{301}bob:SECRET@h", "http:\u{301}bob:…@h"), ("http://h:1/\u{301}@b", "http://h:1/\u{301}@b"),
            ("\"http:bob:SECRET@h\" and https://eve:SECRET@i/ failed", "\"http:bob:…@h\" and https://eve:…@i/ failed"),
            ("http:x:http://bob:SECRET@h", "http:x:http://bob:…@h"), ("http:http:SECRET@h", "http:http:…@h"),
            ("http://h/a http:/bob:SECRET@h", "http://h/a http:/bob:…@h"),
            ("http://h:80\nhttps://bob:SECRET@h", "http://h:80\nhttps://bob:…@h"),
            (#"http://bob:SEC\RET@h"#, "http://bob:…@h"), (#"redis://:SEC\RET@h"#, "redis://:…@h"),
            (#"http:\\h\a:SECRET@c"#, #"http:\\h\a:…@c"#),
            // A password that is not encoded.
            ("http://bob:SEC?RET@h/a", "http://bob:…@h/a"), ("https://bob:SEC/RET@h:80/a", "https://bob:…@h:80/a"),
            ("http://bob:S#ECRET@h", "http://bob:…@h"), ("\"http:bob:S C:RET@h\" and @", "\"http:bob:…@h\" and @"),
        ]
    )
    func redacts(_ text: String, expected: String) { #expect(text.withoutPasswords == expected) }

    @Test(
        "C18 a text without a password stays as it is",
        arguments: [
            "", "@", ":", "bob@example.org", "mailto:bob@example.org", "at 10:30: bob@example.org", "a: b:c@d",
            "http://h/a@b", "http:h:80/a:b@c", "https://h?a:b@c", "https://h/did:plc:AAA@1x.png", "file:///icon@2x.png",
            "file:icon@2x.png", "http://h and bob@example.org", "data:image/png;base64,AAAA", "http://h#a:b@c",
            "http://h:/a@b", "http://[::1]/a@b", "http://h:80 a@b", "x:y:z/a@b",
        ]
    )
    func keeps(_ text: String) { #expect(text.withoutPasswords == text) }

    @Test("C18 the time for a text of colons does not grow with the square of its length")
    func longTexts() {
        for part in ["a:", "http:", ":@", "a:b@", "://"] {
            let text = String(repeating: part, count: 200_000) + "@"
            #expect(text.withoutPasswords.utf8.count <= 2 * text.utf8.count)
        }
    }
}
