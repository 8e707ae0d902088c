import Eidetic
import Testing

/// The confirmation of entries (RFC 9111, section 4.3.4).
@Suite("HTTP: status 304", .timeLimit(.minutes(1)))
struct NotModifiedScenarios {
    static let table: [HTTPScenario] = [
        HTTPScenario(
            name: "a 304 with another strong entity tag confirms nothing",
            answers: [
                "/a": [
                    .init(200, ["ETag: \"1\"", "Cache-Control: no-cache"], width: 8), .init(304, ["ETag: \"2\""]),
                    .init(200, ["ETag: \"2\"", "Cache-Control: max-age=60"], width: 9),
                ]
            ],
            steps: [.load("/a", "network 8"), .load("/a", "network 9"), .restart(), .load("/a", "disk 9")],
            requests: ["/a", "/a if-none-match=\"1\"", "/a"]
        ),
        HTTPScenario(
            name: "a 304 with no-store: the bytes are delivered, and not kept",
            answers: [
                "/a": [
                    .init(200, ["ETag: \"1\"", "Cache-Control: no-cache"], width: 8),
                    .init(304, ["ETag: \"1\"", "Cache-Control: no-store"]), .init(200, [], width: 9),
                ]
            ],
            steps: [.load("/a", "network 8"), .load("/a", "disk 8"), .load("/a", "network 9")],
            requests: ["/a", "/a if-none-match=\"1\"", "/a"]
        ),
        HTTPScenario(
            name: "a 304 with Vary: *: the entry is confirmed again",
            answers: [
                "/a": [
                    .init(200, ["ETag: \"1\"", "Cache-Control: max-age=0"], width: 8),
                    .init(304, ["ETag: \"1\"", "Cache-Control: max-age=60", "Vary: *"]),
                ]
            ],
            steps: [.load("/a", "network 8"), .load("/a", "disk 8"), .load("/a", "disk 8")],
            requests: ["/a", "/a if-none-match=\"1\"", "/a if-none-match=\"1\""]
        ),
        HTTPScenario(
            name: "a 304 without Date counts from its arrival",
            answers: [
                "/a": [
                    .init(
                        200,
                        ["ETag: \"1\"", "Date: Sun, 06 Nov 1994 08:49:37 GMT", "Cache-Control: max-age=60"],
                        width: 8
                    ), .init(304, ["ETag: \"1\""]),
                ]
            ],
            steps: [
                .load("/a", "network 8"), .load("/a", "disk 8"), .restart(), .advance(59), .load("/a", "disk 8"),
                .restart(), .advance(1), .load("/a", "disk 8"),
            ],
            requests: ["/a", "/a if-none-match=\"1\"", "/a if-none-match=\"1\""]
        ),
    ]

    @Test("C20 a 304 updates what it confirms, and what may be kept", arguments: table)
    func confirms(_ scenario: HTTPScenario) async throws { try await scenario.run() }
}
