import EideticLifecycle
import Testing

@Suite("Messages of servers")
struct PushPayloadTests {
    private static let field = #""content-available":1"#

    /// Messages that wake the application.
    private static let silentTexts: [String] = [
        "{\(field)}", #"{"aps":{\#(field)}}"#, " { \"aps\" : { \"content-available\" : 1 } }\n",
        #"{"text":"a \"quoted\" \\","n":[-1.5e+3,0,true,false,null,[],{}],\#(field)}"#,
        #"{"end":"\\",\#(field)}"#, #"{"content-available":0,"aps":{"sound":"","content-available":1}}"#,
    ]

    @Test(
        "B13 a message with content-available 1, at the top or in aps, is accepted unchanged, with any other members",
        arguments: silentTexts
    )
    func silent(text: String) throws {
        #expect(try PushPayload(Array(text.utf8)).bytes == Array(text.utf8))
    }

    /// Objects that are no such messages.
    private static let otherTexts: [String] = [
        "{}", #"{"aps":{}}"#, #"{"content-available":10}"#, #"{"content-available":"1"}"#,
        #"{"other":{\#(field)}}"#, #"{"aps":{"aps":{\#(field)}}}"#, #"{"aps":[{\#(field)}]}"#,
        #"{"text":"\"content-available\":1"}"#,
    ]

    @Test(
        "B13 a message without content-available 1 at the top or in aps is refused",
        arguments: otherTexts
    )
    func notSilent(text: String) { Self.expect(.notSilent, for: text) }

    /// Texts, and the offsets of the bytes that make them invalid.
    private static let invalidTexts: [(text: String, offset: Int)] = [
        ("", 0), ("[1]", 0), ("{", 1), ("{\(field)", 22), ("{\(field)}x", 23), (#"{"a" 1}"#, 5), (#"{"a":}"#, 5),
        (#"{"a":1,}"#, 7), (#"{"a":[1,]}"#, 8), (#"{"a":tru}"#, 5), (#"{"a":-}"#, 6), (#"{"a":1.}"#, 7),
        (#"{"a":1e}"#, 7), (#"{"a":"b"#, 7), (#"{"a":"b\"#, 8), ("{\"a\":\"\n\"}", 6), ("{\"a\":\"\u{1f}\"}", 6),
    ]

    @Test("B13 a payload that is no JSON object is refused, with the place", arguments: invalidTexts)
    func place(text: String, offset: Int) { Self.expect(.invalidJSON(offset: offset), for: text) }

    @Test("B13 bytes that are no UTF-8 are refused") func invalidText() {
        #expect(throws: PushPayload.Fault.invalidJSON(offset: 0)) {
            try PushPayload(Array("{\"a\":\"".utf8) + [0xff] + Array("\",\(Self.field)}".utf8))
        }
    }

    @Test("B13 a message has at most 4,096 bytes", arguments: [4_095, 4_096, 4_097])
    func length(count: Int) {
        let text = "{\(Self.field)}"
        let bytes = Array(text.utf8) + [UInt8](repeating: 0x20, count: count - text.utf8.count)
        if count <= 4_096 {
            #expect(throws: Never.self) { try PushPayload(bytes) }
        } else {
            #expect(throws: PushPayload.Fault.tooLong) { try PushPayload(bytes) }
        }
    }

    @Test("B13 objects and arrays are at most 32 deep", arguments: [31, 32, 33], ["[]", "{}"])
    func depth(count: Int, kind: String) {
        // The message itself is the first.
        let (open, close) = kind == "[]" ? ("[", "]") : (#"{"a":"#, "}")
        let inner = String(repeating: open, count: count - 2) + kind + String(repeating: close, count: count - 2)
        let text = "{\(Self.field),\"deep\":\(inner)}"
        if count <= 32 {
            #expect(throws: Never.self) { try PushPayload(Array(text.utf8)) }
        } else {
            let before = "{\(Self.field),\"deep\":".utf8.count + open.utf8.count * (count - 2)
            Self.expect(.invalidJSON(offset: before), for: text)
        }
    }

    private static func expect(_ fault: PushPayload.Fault, for text: String) {
        #expect(throws: fault, "\(text)") { try PushPayload(Array(text.utf8)) }
    }
}
