import Eidetic
import Testing

/// The time for which failures are remembered, and entries that newer responses have replaced.
@Suite("HTTP: failures", .timeLimit(.minutes(1)))
struct FailureScenarios {
    static let failures: [HTTPScenario] = [
        HTTPScenario(
            name: "a 404 with no-store is requested again",
            answers: ["/a": [.init(404, ["Cache-Control: no-store"])]],
            steps: [.load("/a", "httpStatus"), .load("/a", "httpStatus")],
            requests: ["/a", "/a"]
        ),
        HTTPScenario(
            name: "a 404 with no-cache is requested again",
            answers: ["/a": [.init(404, ["Cache-Control: no-cache"])]],
            steps: [.load("/a", "httpStatus"), .load("/a", options: .progressive, "httpStatus")],
            requests: ["/a", "/a"]
        ),
        HTTPScenario(
            name: "a 403 with a lifetime is remembered for no longer",
            answers: ["/a": [.init(403, ["Cache-Control: max-age=10", "Age: 4"])]],
            steps: [
                .load("/a", "httpStatus"), .advance(5), .load("/a", "remembered"), .advance(1),
                .load("/a", "httpStatus"),
            ],
            requests: ["/a", "/a"]
        ),
        HTTPScenario(
            name: "a 404 without directives is remembered for the time of the policy",
            answers: ["/a": [.init(404)]],
            steps: [
                .load("/a", "httpStatus"), .advance(3_599), .load("/a", "remembered"), .advance(1),
                .load("/a", "httpStatus"),
            ],
            requests: ["/a", "/a"]
        ),
        HTTPScenario(
            name: "a 404 with a lifetime above that of the policy",
            answers: ["/a": [.init(404, ["Cache-Control: max-age=36000"])]],
            steps: [.load("/a", "httpStatus"), .advance(3_600), .load("/a", "httpStatus")],
            requests: ["/a", "/a"]
        ),
        HTTPScenario(
            name: "a body that is not an image with no-store is requested again",
            answers: ["/a": [.init(200, ["Cache-Control: no-store"])]],
            steps: [.load("/a", "notAnImage"), .load("/a", "notAnImage")],
            requests: ["/a", "/a"]
        ),
        HTTPScenario(
            name: "a request with no-cache is sent in spite of a failure",
            answers: ["/a": [.init(404)]],
            steps: [
                .load("/a", "httpStatus"), .load("/a", fields: ["Cache-Control": "no-cache"], "httpStatus"),
                .load("/a", fields: ["Cache-Control": "max-stale"], "remembered"),
            ],
            requests: ["/a", "/a cache-control=no-cache"]
        ),
    ]

    private static let image = HTTPScenario.Answer(200, ["ETag: \"1\"", "Cache-Control: max-age=60"], width: 8)

    static let replacements: [HTTPScenario] =
        [404, 410].map { status in
            HTTPScenario(
                name: "an entry that a \(status) removed does not come back",
                answers: ["/a": [image, .init(status, ["Cache-Control: no-store"])]],
                steps: [
                    .load("/a", "network 8"), .advance(60), .load("/a", "httpStatus"), .disconnect,
                    .load("/a", "connectionRefused"), .restart(), .load("/a", "connectionRefused"),
                ],
                requests: ["/a", "/a if-none-match=\"1\""]
            )
        } + [
            HTTPScenario(
                name: "an entry that a response with no-store replaced does not come back",
                answers: ["/a": [image, .init(200, ["Cache-Control: no-store"], width: 9)]],
                steps: [
                    .load("/a", "network 8"), .advance(60), .load("/a", "network 9"), .disconnect,
                    .load("/a", "connectionRefused"), .restart(), .load("/a", "connectionRefused"),
                ],
                requests: ["/a", "/a if-none-match=\"1\""]
            ),
            HTTPScenario(
                name: "an image in memory that a 404 removed does not come back",
                answers: ["/a": [image, .init(404)]],
                steps: [
                    .load("/a", "network 8"), .load("/a", options: .refreshCached, "memory 8"),
                    .load("/a", "remembered"),
                ],
                requests: ["/a", "/a if-none-match=\"1\" cache-control=max-age=0"]
            ),
            HTTPScenario(
                name: "an entry whose origin cannot be reached is delivered",
                answers: ["/a": [image]],
                steps: [.load("/a", "network 8"), .advance(60), .disconnect, .load("/a", "disk 8")],
                requests: ["/a"]
            ),
        ]

    @Test("C20 L07 failures are remembered for no longer than the response allows", arguments: failures)
    func remembers(_ scenario: HTTPScenario) async throws { try await scenario.run() }

    @Test("C20 replaced and removed entries do not come back", arguments: replacements)
    func removes(_ scenario: HTTPScenario) async throws { try await scenario.run() }
}
