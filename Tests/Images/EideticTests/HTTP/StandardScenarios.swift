import Eidetic
import Testing

/// Scenarios of the standards that no other table has.
@Suite("HTTP: scenarios of the standards", .timeLimit(.minutes(1)))
struct StandardScenarios {
    private static let confirmation = HTTPScenario.Answer(304, ["ETag: \"1\""])

    private static func answers(_ control: String) -> [String: [HTTPScenario.Answer]] {
        ["/a": [.init(200, ["ETag: \"1\"", "Cache-Control: \(control)"], width: 8), confirmation]]
    }

    static let table: [HTTPScenario] = [
        HTTPScenario(
            name: "a response with no-store is not kept",
            answers: answers("no-store, max-age=60"),
            steps: [.load("/a", "network 8"), .restart(), .disconnect, .load("/a", "connectionRefused")],
            requests: ["/a"]
        ),
        HTTPScenario(
            name: "a private response is kept",
            answers: answers("private, max-age=60"),
            steps: [.load("/a", "network 8"), .restart(), .load("/a", "disk 8")],
            requests: ["/a"]
        ),
        HTTPScenario(
            name: "must-understand with a status that is not understood",
            answers: ["/a": [.init(201, ["Cache-Control: must-understand, max-age=60"], width: 8)]],
            steps: [.load("/a", "network 8"), .load("/a", "network 8")],
            requests: ["/a", "/a"]
        ),
        HTTPScenario(
            name: "must-understand overrides no-store for a status that is understood",
            answers: answers("must-understand, no-store, max-age=60"),
            steps: [.load("/a", "network 8"), .restart(), .load("/a", "disk 8")],
            requests: ["/a"]
        ),
        HTTPScenario(
            name: "no-cache: the entry is confirmed before each use",
            answers: answers("no-cache, max-age=60"),
            steps: [.load("/a", "network 8"), .load("/a", "disk 8"), .disconnect, .load("/a", "connectionRefused")],
            requests: ["/a", "/a if-none-match=\"1\""]
        ),
        HTTPScenario(
            name: "must-revalidate: a stale entry is not used if the origin cannot be reached",
            answers: answers("max-age=60, must-revalidate"),
            steps: [
                .load("/a", "network 8"), .restart(), .advance(59), .load("/a", "disk 8"), .restart(), .advance(1),
                .disconnect, .load("/a", "connectionRefused"),
            ],
            requests: ["/a"]
        ),
        HTTPScenario(
            name: "an error of the server is delivered instead of a stale entry without stale-if-error",
            answers: [
                "/a": [.init(200, ["ETag: \"1\"", "Cache-Control: max-age=60"], width: 8), .init(500)]
            ],
            steps: [.load("/a", "network 8"), .advance(60), .load("/a", "httpStatus")],
            requests: ["/a", "/a if-none-match=\"1\""]
        ),
        HTTPScenario(
            name: "stale-if-error: a stale entry is used within its time",
            answers: [
                "/a": [
                    .init(200, ["ETag: \"1\"", "Cache-Control: max-age=60, stale-if-error=10"], width: 8), .init(503),
                ]
            ],
            steps: [
                .load("/a", "network 8"), .advance(69), .load("/a", "disk 8"), .advance(1), .load("/a", "httpStatus"),
            ],
            requests: ["/a", "/a if-none-match=\"1\"", "/a if-none-match=\"1\""]
        ),
        HTTPScenario(
            name: "stale-while-revalidate: a stale entry is used while it is confirmed",
            answers: answers("max-age=60, stale-while-revalidate=10"),
            steps: [
                .load("/a", "network 8"), .restart(), .advance(69), .load("/a", "disk 8"), .waitForRequests(2),
                .restart(), .load("/a", "disk 8"),
            ],
            requests: ["/a", "/a if-none-match=\"1\""]
        ),
        HTTPScenario(
            name: "a full response to a condition replaces the entry",
            answers: [
                "/a": [
                    .init(200, ["ETag: \"1\"", "Cache-Control: no-cache"], width: 8),
                    .init(200, ["ETag: \"2\"", "Cache-Control: max-age=60"], width: 9),
                ]
            ],
            steps: [.load("/a", "network 8"), .load("/a", "network 9"), .restart(), .load("/a", "disk 9")],
            requests: ["/a", "/a if-none-match=\"1\""]
        ),
        HTTPScenario(
            name: "both validators are sent",
            answers: [
                "/a": [
                    .init(
                        200,
                        ["ETag: \"1\"", "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "Cache-Control: no-cache"],
                        width: 8
                    ), confirmation,
                ]
            ],
            steps: [.load("/a", "network 8"), .load("/a", "disk 8")],
            requests: ["/a", "/a if-none-match=\"1\" if-modified-since=Mon, 01 Jan 2024 00:00:00 GMT"]
        ),
        HTTPScenario(
            name: "s-maxage and proxy-revalidate are for shared caches",
            answers: answers("s-maxage=1, proxy-revalidate, max-age=60"),
            steps: [.load("/a", "network 8"), .restart(), .advance(59), .load("/a", "disk 8")],
            requests: ["/a"]
        ),
        HTTPScenario(
            name: "unknown directives are ignored, and arguments may be quoted",
            answers: answers("community=\"UCI\", max-age=\"60\", \"x\""),
            steps: [.load("/a", "network 8"), .restart(), .advance(59), .load("/a", "disk 8")],
            requests: ["/a"]
        ),
        HTTPScenario(
            name: "max-age overrides Expires",
            answers: [
                "/a": [
                    .init(200, ["Cache-Control: max-age=60", "Expires: Thu, 01 Jan 1970 00:00:00 GMT"], width: 8)
                ]
            ],
            steps: [.load("/a", "network 8"), .restart(), .load("/a", "disk 8")],
            requests: ["/a"]
        ),
        HTTPScenario(
            name: "Expires: 0 is in the past",
            answers: ["/a": [.init(200, ["ETag: \"1\"", "Expires: 0"], width: 8), confirmation]],
            steps: [.load("/a", "network 8"), .load("/a", "disk 8")],
            requests: ["/a", "/a if-none-match=\"1\""]
        ),
        HTTPScenario(
            name: "the Age field counts",
            answers: [
                "/a": [.init(200, ["ETag: \"1\"", "Age: 50", "Cache-Control: max-age=60"], width: 8), confirmation]
            ],
            steps: [
                .load("/a", "network 8"), .restart(), .advance(9), .load("/a", "disk 8"), .restart(), .advance(1),
                .load("/a", "disk 8"),
            ],
            requests: ["/a", "/a if-none-match=\"1\""]
        ),
    ]

    @Test("C20 RFC 9111", arguments: table)
    func standard(_ scenario: HTTPScenario) async throws { try await scenario.run() }

    /// The scenarios of all tables.
    static let all: [HTTPScenario] =
        table + NotModifiedScenarios.table + RedirectScenarios.table + RequestScenarios.statuses
        + RequestScenarios.directives + RequestScenarios.reloads + TimeScenarios.table + FailureScenarios.failures
        + FailureScenarios.replacements + VaryScenarios.table
}
