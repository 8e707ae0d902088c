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
        ] + Self.unusual + [
            // Of two readings the one that shows less.
            ("http://h and bob@example.org", "http://…@example.org"), ("http://h:80 a@b", "http://h:…@b"),
            ("http://h: lost, bob@example.org", "http://h:…@example.org"),
            ("http://h:x/ by bob@i\n/bob@j", "http://h:…@i\n/bob@j"),
            ("\"//bob:SECRET@h\", eve@i", "\"//bob:…@h\", eve@i"),
            ("at //bob:SECRET@h/x (//TOKEN@i)", "at //bob:…@h/x (//…@i)"),
            ("http://bob:SECRET@h or https://eve:SECRET@i", "http://bob:…@h or https://eve:…@i"),
            ("{\"a\":\"http://bob:SECRET@h\",\"b\":\"eve@i\"}", "{\"a\":\"http://bob:…@h\",\"b\":\"eve@i\"}"),
        ]
    )
    func redacts(_ text: String, expected: String) {
        #expect(text.withoutPasswords == expected)
        #expect(expected.withoutPasswords == expected)
    }

    /// URLs that are loaded since user and password are encoded, and others that an error names.
    private static let unusual = [
        ("http://my user:SECRET@h/a", "http://my user:…@h/a"), ("http://bob:12 SECRET@h/a", "http://bob:…@h/a"),
        ("http://bob: SECRET@h/", "http://bob:…@h/"), ("http:// bob:SECRET@h/", "http:// bob:…@h/"),
        ("http://bob:[SEC RET@h/", "http://bob:…@h/"), ("http://bob:a:SEC RET@h/", "http://bob:…@h/"),
        ("http://bob:p@ss SECRET@h/", "http://bob:…@h/"), ("http://tok en@h/", "http://…@h/"),
        ("http://user@name:SEC?RET@h/", "http://user@name:…@h/"), ("http://bob:SE\"C?RET@h/", "http://bob:…@h/"),
        ("http://bob:[SEC?RET@h/", "http://bob:…@h/"), ("http://bob:SEC:RET?x@h/", "http://bob:…@h/"),
        ("//bob:SECRET@host/x", "//bob:…@host/x"), ("//SEC RET@host/x", "//…@host/x"),
        ("redis://:SEC RET@h", "redis://:…@h"), ("http://bob:SEC]RET@[::1]:80/", "http://bob:…@[::1]:80/"),
    ]

    @Test(
        "C18 a URL has no password in any form, also where a text would end or begin another URL",
        arguments: Self.unusual + [
            ("http://SEC RET?x@h/", "http://…@h/"), ("http://SE<CRET/x@h/", "http://…@h/"),
            ("http://bob:SEC\n/RET@h/", "http://bob:…@h/"), ("http://bob:SEC http://RET@h/", "http://bob:…@h/"),
            ("\"http://bob:SEC\" RET@h/", "\"http://bob:…@h/"), ("htpp:bob:SEC RET@h", "htpp:…@h"),
            ("http://h/?u=http://bob:SECRET@i/", "http://h/?u=http://bob:…@i/"),
            ("bob:SECRET@h/x", "bob:…@h/x"), ("bob:SEC:RET@h", "bob:…@h"), ("my.user:SEC@RET@h", "my.user:…@h"),
            ("bob:SEC/RET@h/x", "bob:…@h/x"), ("bob:SEC?R#ET@h", "bob:…@h"), ("bob:12SEC/RET@h", "bob:…@h"),
        ]
    )
    func redactsURL(_ url: String, expected: String) { #expect(url.withoutPasswordsOfURL == expected) }

    @Test(
        "a URL without a password stays as it is",
        arguments: [
            "", "//", "@", "http://h/a@b", "http://h:80/a b@c", "http://[fe80::1%25eth0]:80/a@b", "http://h?a:b@c",
            "https://é.example/a@b", "file:///icon@2x.png", "file:icon@2x.png", "data:,a@b", "mailto:bob@example.org",
            "http://h/thumb: 1//a@2x.png", "example.org:80/a@2x.png", "example.org:80?a@b",
        ]
    )
    func keepsURL(_ url: String) { #expect(url.withoutPasswordsOfURL == url) }

    @Test(
        "C18 a text without a password stays as it is",
        arguments: [
            "", "@", ":", "bob@example.org", "mailto:bob@example.org", "at 10:30: bob@example.org", "a: b:c@d",
            "http://h/a@b", "http:h:80/a:b@c", "https://h?a:b@c", "https://h/did:plc:AAA@1x.png", "file:///icon@2x.png",
            "file:icon@2x.png", "http://h/a: sent by bob@example.org", "http://h/ and bob@example.org",
            "data:image/png;base64,AAAA", "http://h#a:b@c",
            "http://h:/a@b", "http://[::1]/a@b", "x:y:z/a@b", "http://h: lost; https://i/a@2x.png",
            "\"http://h\" is of bob@example.org", "// a comment: bob@h", "a//b@c", "http://h\nnext/line@2x.png",
        ]
    )
    func keeps(_ text: String) { #expect(text.withoutPasswords == text) }

    @Test("C18 the time for a text of colons does not grow with the square of its length")
    func longTexts() {
        for part in ["a:", "http:", ":@", "a:b@", "://", "\"http://a/", "\"//a:b/", " //", "http://a:b/ "] {
            let text = String(repeating: part, count: 40_000) + "@"
            #expect(text.withoutPasswords.utf8.count <= 2 * text.utf8.count)
            #expect(text.withoutPasswordsOfURL.utf8.count <= 2 * text.utf8.count)
        }
    }
}
