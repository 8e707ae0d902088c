import EideticCore
import EideticHTTP
import Testing

@testable import EideticFetch

/// The fast parser returns the same as libcurl, or nothing.
struct PlainURLTests {
    @Test("URLs in normal form are parsed without libcurl")
    func acceptsPlainURLs() {
        for url in [
            "http://127.0.0.1:8080/a.png", "https://localhost/",
            "https://images.example.com/2026/a-b_c~d.jpg?w=400&h=300",
            "http://h.x1:65535/a//b?c=/d/e,f;g@h:i+j*k!", "https://3com.example/a...b/c.",
        ] {
            #expect(PlainURL(url) != nil, "\(url)")
        }
    }

    @Test(
        "text that may not be in normal form is left to libcurl",
        arguments: [
            "http://h", "http://H/a", "HTTP://h/a", "http://h:/a", "http://h:0/a", "http://h:080/a", "http://h:65536/a",
            "http://u@h/a", "http://h/a#b", "http://h/a?", "http://h/a/../b", "http://h/./b", "http://h/a b",
            "http://h/ä",
            "http://127.1/a", "http://0x7f.1/a", "http://1.2.3.256/a", "http://01.2.3.4/a", "http://2130706433/a",
            "http://h./a", "http://.h/a", "http://a..1/b", "http://[::1]/a", "http://xn--a.ä/b", "ftp://h/a",
            " http://h/a",
            "http:///a", "http://", "", "http://h\\a/b", "http://h/%41",
        ]
    )
    func refusesOtherForms(url: String) { #expect(PlainURL(url) == nil) }

    @Test("the fast parser agrees with libcurl on 200,000 random texts")
    func agreesWithLibcurl() throws {
        let pieces = [
            "http://", "https://", "h", "a.b", "127.0.0.1", "1.2", "0x1", "-", ".", "..", "/", "//", "/.", ":", ":80",
            ":443",
            ":0", ":99999", "?", "&", "=", "a=b", "%20", "%", "#", "@", "u:p@", " ", "A", "z9", "_", "~", "+", ";", ",",
            "!",
            "*", "\\", "|", "é", "[::1]", "xn--", "\t", "'", "(", "{", "^",
        ]
        var random = SystemRandomNumberGenerator()
        var acceptedCount = 0
        for _ in 0..<200_000 {
            var text = random.next() % 8 == 0 ? "" : Bool.random() ? "http://" : "https://"
            if random.next() % 4 != 0 { text += ["h", "a.b", "127.0.0.1", "x-1.y2"].randomElement() ?? "" }
            for _ in 0..<Int.random(in: 0...5) { text += pieces.randomElement() ?? "" }
            guard let plain = PlainURL(text) else { continue }
            acceptedCount += 1
            let parsed = try ParsedURL(parsing: text)
            #expect(
                parsed.text == text && parsed.origin == plain.origin && parsed.user == nil && parsed.password == nil
            )
        }
        #expect(acceptedCount > 1_000)
    }

    @Test(
        "L02 a host has one trailing dot at most, which its normal form lacks; an address has one form",
        arguments: [
            ("http://a.b./c", "http://a.b/c"), ("http://2444./c", "http://0.0.9.140/c"),
            ("http://２４４４/c", "http://0.0.9.140/c"), ("http://%32444/c", "http://0.0.9.140/c"),
            ("http://127%2e1/c", "http://127.0.0.1/c"), ("http://a.b../c", nil), ("http://../c", nil),
            ("http:///..?c", nil), ("http://./c", nil), ("http://a%25b/c", nil), ("http://a%b/c", nil),
        ]
    )
    func trailingDots(url: String, normal: String?) { #expect((try? ParsedURL(url))?.text == normal) }

    @Test(
        "a reference has the port of its base, and none if that has none",
        arguments: ["http://h", "https://h", "https://h:8443"]
    )
    func references(base: String) {
        #expect(ParsedURL.resolve("c?d", against: "\(base)/a/b") == "\(base)/a/c?d")
    }

    /// URL Standard, section 1.3 (path and query percent-encode sets) and 4.4; RFC 3986, section 2.
    @Test(
        "L02 characters that a request must not contain are percent-encoded",
        arguments: [
            ("http://h/a\"<>^`{|}b", "http://h/a%22%3C%3E%5E%60%7B%7C%7Db"),
            ("http://h/a b?c d", "http://h/a%20b?c%20d"),
            ("http://h/?a\"<>'\\b", "http://h/?a%22%3C%3E%27%5Cb"), ("http://h/a\tb\r\nc", "http://h/abc"),
            ("http://h\\a\\b?c", "http://h/a/b?c"), ("http://h/é?é", "http://h/%C3%A9?%C3%A9"),
            ("http://h/it's", "http://h/it's"), ("http://h/%zz%", "http://h/%zz%"), ("http://h/a[1]", "http://h/a[1]"),
            ("http://h/a#b?c", "http://h/a"), ("http://h/\u{7f}", "http://h/%7F"),
            ("http:h/a", "http://h/a"), ("HTTP:///\\h/a", "http://h/a"), ("http://u@v:p@q@h/a@b", "http://h/a@b"),
            ("http://h/a/%2e%2E/b/.%2e/c", "http://h/c"), ("http://h/a/%2e/b%2ec?%2e", "http://h/a/b%2ec?%2e"),
        ]
    )
    func encodes(url: String, normal: String) { #expect((try? ParsedURL(url))?.text == normal) }

    @Test(
        "L02 credentials with a control character are refused, because no other ones may be sent",
        arguments: ["a\u{1}b", "a%01b", "%0A", "%7f\u{1f}", "%00"]
    )
    func controlCharacters(_ text: String) {
        for credentials in ["bob:\(text)", "\(text):bob", text] {
            let error = #expect(throws: EideticError.self) { try ParsedURL("http://\(credentials)@h/") }
            #expect(error?.code == .invalidURL)
            #expect(error?.message.contains("control character") == true, "\(String(describing: error))")
        }
    }

    @Test("L02 encoded credentials are decoded")
    func encodedCredentials() throws {
        let url = try ParsedURL("http://my user:p%40ss[ w@h/")
        #expect(url.user == "my user" && url.password == "p@ss[ w")
        let empty = try ParsedURL("http://bob:@h/")
        #expect(empty.user == "bob" && empty.password == "")
    }

    @Test("C18 the error of a URL quotes it without its password")
    func quotedURL() {
        for url in [
            "http://user@name:SEC?RET@h/", "http://bob:SE\"C?RET@h/", "http://bob:[SEC RET@h:x/", "//a:SECRET@h/",
        ] {
            let error = #expect(throws: EideticError.self) { try ParsedURL(url) }
            #expect(error?.message.contains("RET") == false && error?.message.contains("…@h") == true)
        }
    }

    /// RFC 3986, section 5.2.2; the bytes of a `Location` are kept as browsers do (Fetch Standard, "location URL").
    @Test(
        "L07 a reference is resolved by the standard, byte for byte",
        arguments: [
            ("#x", "http://h/a/b?q"), ("", "http://h/a/b?q"), ("?r#x", "http://h/a/b?r"), ("c", "http://h/a/c"),
            ("../c", "http://h/c"), ("/c#x", "http://h/c"), ("//i/c", "http://i/c"),
            ("http://i/{c}", "http://i/%7Bc%7D"),
            ("http:c", "http://h/a/c"), ("HTTP:/c", "http://h/c"), ("http:?r", "http://h/a/b?r"),
            ("//bob:p ss@i/c", "http://bob:p%20ss@i/c"), ("//a@b@i/c", "http://a%40b@i/c"),
            ("///i/c", "http://i/c"), ("http:////i/c", "http://i/c"), ("https:i/c", "https://i/c"),
            ("http://i/é", "http://i/%C3%A9"), ("c d?e f", "http://h/a/c%20d?e%20f"),
            (String(fieldBytes: Array("http://i/".utf8) + [0xe9]), "http://i/%E9"),
            (String(fieldBytes: Array("/?".utf8) + [0xe9]), "http://h/?%E9"),
        ]
    )
    func resolves(reference: String, target: String) {
        #expect(ParsedURL.resolve(reference, against: "http://h/a/b?q") == target)
    }
}
