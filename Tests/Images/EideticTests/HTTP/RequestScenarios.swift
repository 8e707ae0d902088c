import Eidetic
import Testing

/// The status of a response, and the directives of a request (RFC 9110, section 15.1; RFC 9111, section 5.2.1).
@Suite("HTTP: status and request", .timeLimit(.minutes(1)))
struct RequestScenarios {
    private static let old = "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT"
    private static let tag = "ETag: \"1\""
    private static let confirmation = HTTPScenario.Answer(304, ["ETag: \"1\""])

    /// A resource of which the first response has this lifetime.
    private static func answers(_ control: String) -> [String: [HTTPScenario.Answer]] {
        ["/a": [.init(200, [tag, "Cache-Control: \(control)"], width: 8), confirmation]]
    }

    static let statuses: [HTTPScenario] =
        [201, 202].map { status in
            HTTPScenario(
                name: "\(status) without a lifetime is not kept",
                answers: ["/a": [.init(status, [old], width: 8), .init(status, [old], width: 9)]],
                steps: [.load("/a", "network 8"), .load("/a", "network 9"), .restart(), .load("/a", "network 9")],
                requests: ["/a", "/a", "/a"]
            )
        } + [
            HTTPScenario(
                name: "201 with a lifetime is kept",
                answers: ["/a": [.init(201, ["Cache-Control: max-age=60"], width: 8)]],
                steps: [.load("/a", "network 8"), .load("/a", "memory 8"), .restart(), .load("/a", "disk 8")],
                requests: ["/a"]
            ),
            HTTPScenario(
                name: "203 without a lifetime is kept as long as its date allows",
                answers: ["/a": [.init(203, [old], width: 8), .init(304)]],
                steps: [
                    .load("/a", "network 8"), .restart(), .load("/a", "disk 8"), .advance(86_401),
                    .load("/a", "disk 8"),
                ],
                requests: ["/a", "/a if-modified-since=Mon, 01 Jan 2024 00:00:00 GMT"]
            ),
        ]

    static let directives: [HTTPScenario] = [
        HTTPScenario(
            name: "no-store: nothing is kept",
            answers: ["/a": [.init(200, ["Cache-Control: max-age=60"], width: 8)]],
            steps: [
                .load("/a", fields: ["Cache-Control": "no-store"], "network 8"), .load("/a", "network 8"), .restart(),
                .load("/a", "disk 8"),
            ],
            requests: ["/a cache-control=no-store", "/a"]
        ),
        HTTPScenario(
            name: "no-cache: a fresh entry of the same key is confirmed, also one in memory",
            answers: answers("max-age=3600"),
            steps: [
                .load("/a", "network 8"), .load("/a", fields: ["Cache-Control": "no-cache"], "disk 8"), .restart(),
                .load("/a", fields: ["Pragma": "no-cache"], "disk 8"), .load("/a", "memory 8"),
            ],
            requests: [
                "/a", "/a if-none-match=\"1\" cache-control=no-cache", "/a if-none-match=\"1\"",
            ]
        ),
        HTTPScenario(
            name: "max-age: an entry of that age is used, an older one is confirmed",
            answers: answers("max-age=3600"),
            steps: [
                .load("/a", "network 8"), .advance(10), .load("/a", fields: ["Cache-Control": "max-age=10"], "disk 8"),
                .advance(1), .load("/a", fields: ["Cache-Control": "max-age=10"], "disk 8"),
            ],
            requests: ["/a", "/a if-none-match=\"1\" cache-control=max-age=10"]
        ),
        HTTPScenario(
            name: "max-stale: an entry that has been stale for that time is used, an older one is confirmed",
            answers: answers("max-age=10"),
            steps: [
                .load("/a", "network 8"), .advance(60),
                .load("/a", fields: ["Cache-Control": "max-stale=50"], "disk 8"),
                .advance(1), .load("/a", fields: ["Cache-Control": "max-stale=50"], "disk 8"),
            ],
            requests: ["/a", "/a if-none-match=\"1\" cache-control=max-stale=50"]
        ),
        HTTPScenario(
            name: "min-fresh: an entry that stays fresh for longer is used, any other is confirmed",
            answers: answers("max-age=60"),
            steps: [
                .load("/a", "network 8"), .advance(29),
                .load("/a", fields: ["Cache-Control": "min-fresh=30"], "disk 8"),
                .advance(1), .load("/a", fields: ["Cache-Control": "min-fresh=30"], "disk 8"),
            ],
            requests: ["/a", "/a if-none-match=\"1\" cache-control=min-fresh=30"]
        ),
        HTTPScenario(
            name: "only-if-cached: no request is sent",
            answers: answers("max-age=60"),
            steps: [
                .load("/a", fields: ["Cache-Control": "only-if-cached"], "cacheMiss"), .load("/a", "network 8"),
                .restart(), .load("/a", fields: ["Cache-Control": "only-if-cached"], "disk 8"), .restart(),
                .advance(60), .load("/a", fields: ["Cache-Control": "only-if-cached"], "cacheMiss"),
            ],
            requests: ["/a"]
        ),
        HTTPScenario(
            name: "only-if-cached, max-stale: a stale entry is used",
            answers: answers("max-age=60"),
            steps: [
                .load("/a", "network 8"), .advance(61),
                .load("/a", fields: ["Cache-Control": "only-if-cached, max-stale"], "disk 8"),
            ],
            requests: ["/a"]
        ),
    ]

    static let reloads: [HTTPScenario] = [
        HTTPScenario(
            name: "refreshCached asks caches on the way to confirm too",
            answers: answers("max-age=3600"),
            steps: [
                .load("/a", "network 8"), .load("/a", options: .refreshCached, "memory 8"), .restart(),
                .load("/a", options: .refreshCached, "disk 8"),
            ],
            requests: [
                "/a", "/a if-none-match=\"1\" cache-control=max-age=0",
                "/a if-none-match=\"1\" cache-control=max-age=0",
            ]
        ),
        HTTPScenario(
            name: "refreshCached leaves a fresh immutable response alone, and confirms a stale one",
            answers: answers("max-age=3600, immutable"),
            steps: [
                .load("/a", "network 8"), .load("/a", options: .refreshCached, "memory 8"), .restart(),
                .advance(3_599), .load("/a", options: .refreshCached, "disk 8"), .advance(1),
                .load("/a", options: .refreshCached, "disk 8"),
            ],
            requests: ["/a", "/a if-none-match=\"1\" cache-control=max-age=0"]
        ),
    ]

    @Test("C20 the status decides what is kept without a lifetime", arguments: statuses)
    func keeps(_ scenario: HTTPScenario) async throws { try await scenario.run() }

    @Test("C20 the directives of a request are obeyed, and do not change the key", arguments: directives)
    func obeys(_ scenario: HTTPScenario) async throws { try await scenario.run() }

    @Test("C20 L11 RFC 8246 refreshCached", arguments: reloads)
    func refreshes(_ scenario: HTTPScenario) async throws { try await scenario.run() }
}
