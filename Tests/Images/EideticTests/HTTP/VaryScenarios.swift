import Eidetic
import Testing

/// Responses that depend on fields of the request (RFC 9111, section 4.1).
@Suite("HTTP: Vary", .timeLimit(.minutes(1)))
struct VaryScenarios {
    private static func image(_ width: Int, vary: String, control: String = "max-age=3600") -> HTTPScenario.Answer {
        .init(200, ["ETag: \"\(width)\"", "Cache-Control: \(control)", "Vary: \(vary)"], width: width)
    }

    static let table: [HTTPScenario] = [
        HTTPScenario(
            name: "a field of a hook: two variants side by side",
            answers: ["/a": [image(8, vary: "x-hook"), image(9, vary: "X-Hook"), .init(500)]],
            steps: [
                .hook("a"), .load("/a", "network 8"), .hook("b"), .load("/a", "network 9"), .hook("a"),
                .load("/a", "disk 8"), .hook("b"), .load("/a", "disk 9"), .restart(), .hook("a"),
                .load("/a", "disk 8"), .hook("b"), .load("/a", "disk 9"),
            ],
            requests: ["/a x-hook=a", "/a x-hook=b"]
        ),
        HTTPScenario(
            name: "each variant is confirmed with its own tag",
            answers: [
                "/a": [
                    image(8, vary: "X-Hook", control: "no-cache"), image(9, vary: "X-Hook", control: "no-cache"),
                    .init(304, ["ETag: \"8\""]), .init(304, ["ETag: \"9\""]),
                ]
            ],
            steps: [
                .hook("a"), .load("/a", "network 8"), .hook("b"), .load("/a", "network 9"), .hook("a"),
                .load("/a", "disk 8"), .hook("b"), .load("/a", "disk 9"),
            ],
            requests: [
                "/a x-hook=a", "/a x-hook=b", "/a if-none-match=\"8\" x-hook=a", "/a if-none-match=\"9\" x-hook=b",
            ]
        ),
        HTTPScenario(
            name: "values are compared without the white space around commas",
            answers: ["/a": [image(8, vary: "X-Hook"), image(9, vary: "X-Hook")]],
            steps: [
                .hook("a,b"), .load("/a", "network 8"), .restart(), .hook("a , b"), .load("/a", "disk 8"),
                .hook("b, a"), .load("/a", "network 9"),
            ],
            requests: ["/a x-hook=a,b", "/a x-hook=b, a"]
        ),
        HTTPScenario(
            name: "a field of the configuration",
            answers: ["/a": [image(8, vary: "Accept-Language"), image(9, vary: "Accept-Language")]],
            steps: [
                .restart(adding: ["Accept-Language": "de"]), .load("/a", "network 8"), .load("/a", "memory 8"),
                .restart(adding: ["Accept-Language": "en"]), .load("/a", "network 9"),
                .restart(adding: ["Accept-Language": "de"]), .load("/a", "disk 8"), .load("/a", "memory 8"),
            ],
            requests: ["/a", "/a"]
        ),
        HTTPScenario(
            name: "a field that does not select the response",
            answers: ["/a": [image(8, vary: "Accept")]],
            steps: [.hook("a"), .load("/a", "network 8"), .hook("b"), .load("/a", "memory 8")],
            requests: ["/a x-hook=a"]
        ),
        // Chromium's `HttpVaryData` and Firefox's `ResponseWouldVary` decide so.
        HTTPScenario(
            name: "Vary: *: the entry is confirmed by its tag before each use",
            answers: [
                "/a": [
                    .init(
                        200,
                        [
                            "ETag: \"8\"", "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "Vary: Accept, *",
                            "Cache-Control: max-age=31536000, stale-while-revalidate=60, stale-if-error=60",
                        ],
                        width: 8
                    ), .init(304), image(9, vary: "*"), .init(503),
                ]
            ],
            steps: [
                .load("/a", "network 8"), .restart(), .load("/a", "disk 8"), .load("/a", "network 9"),
                .load("/a", "httpStatus"),
            ],
            requests: ["/a", "/a if-none-match=\"8\"", "/a if-none-match=\"8\"", "/a if-none-match=\"9\""]
        ),
        HTTPScenario(
            name: "Vary: * without a tag: the entry is requested anew",
            answers: [
                "/a": [
                    .init(200, ["Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "Vary: *"], width: 8),
                    .init(200, ["Vary: *"], width: 9),
                ]
            ],
            steps: [.load("/a", "network 8"), .load("/a", "network 9")],
            requests: ["/a", "/a"]
        ),
        HTTPScenario(
            name: "variants of a removed response do not come back",
            answers: [
                "/a": [
                    image(8, vary: "X-Hook"), image(9, vary: "X-Hook"), .init(404, ["Cache-Control: no-store"]),
                    image(10, vary: "X-Hook"), image(11, vary: "X-Hook"),
                ]
            ],
            steps: [
                .hook("a"), .load("/a", "network 8"), .hook("b"), .load("/a", "network 9"), .hook("a"),
                .load("/a", fields: ["Cache-Control": "no-cache"], "httpStatus"), .load("/a", "network 10"),
                .hook("b"), .load("/a", "network 11"),
            ],
            requests: [
                "/a x-hook=a", "/a x-hook=b", "/a if-none-match=\"8\" cache-control=no-cache x-hook=a", "/a x-hook=a",
                "/a x-hook=b",
            ]
        ),
    ]

    @Test("C20 a response suits requests with the same selecting fields", arguments: table)
    func varies(_ scenario: HTTPScenario) async throws { try await scenario.run() }
}
