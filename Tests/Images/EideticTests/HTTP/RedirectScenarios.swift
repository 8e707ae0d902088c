import Eidetic
import Testing

/// The storage of a chain of redirects, and the fields that are sent along it.
@Suite("HTTP: redirects", .timeLimit(.minutes(1)))
struct RedirectScenarios {
    private static let image = HTTPScenario.Answer(200, ["ETag: \"1\"", "Cache-Control: max-age=3600"], width: 8)
    private static let confirmation = HTTPScenario.Answer(304, ["ETag: \"1\""])

    static let table: [HTTPScenario] = [
        HTTPScenario(
            name: "a 302 without a lifetime leads anew each time, to the entry of its target",
            answers: ["/a": [.init(302, ["Location: /b"])], "/b": [image]],
            steps: [
                .load("/a", "network 8"), .load("/a", "disk 8"), .restart(), .load("/a", "disk 8"),
                .load("/b", "disk 8"),
            ],
            requests: ["/a", "/b", "/a", "/a"]
        ),
        HTTPScenario(
            name: "a 301 with no-store is not kept, and its target is",
            answers: ["/a": [.init(301, ["Location: /b", "Cache-Control: no-store"])], "/b": [image]],
            steps: [.load("/a", "network 8"), .restart(), .load("/b", "disk 8"), .load("/a", "disk 8")],
            requests: ["/a", "/b", "/a"]
        ),
        HTTPScenario(
            name: "a 302 without a lifetime to an entry that must be confirmed",
            answers: [
                "/a": [.init(302, ["Location: $other/ob"])],
                "/ob": [.init(200, ["ETag: \"1\"", "Cache-Control: no-cache"], width: 8), confirmation],
            ],
            steps: [.load("/a", "network 8"), .restart(), .load("/a", "disk 8")],
            requests: ["/a", "/ob", "/a", "/ob if-none-match=\"1\""]
        ),
        HTTPScenario(
            name: "a redirect with a lifetime below that of its target",
            answers: [
                "/a": [.init(301, ["Location: /b", "Cache-Control: max-age=60"])], "/b": [image, confirmation],
            ],
            steps: [
                .load("/a", "network 8"), .load("/a", "memory 8"), .restart(), .advance(59), .load("/a", "disk 8"),
                .advance(2), .load("/a", "disk 8"),
            ],
            requests: ["/a", "/b", "/a if-none-match=\"1\"", "/b if-none-match=\"1\""]
        ),
        HTTPScenario(
            name: "a redirect with a lifetime above that of its target",
            answers: [
                "/a": [.init(302, ["Location: /b", "Cache-Control: max-age=3600"])],
                "/b": [.init(200, ["ETag: \"1\"", "Cache-Control: max-age=60"], width: 8), confirmation],
            ],
            steps: [
                .load("/a", "network 8"), .restart(), .advance(59), .load("/a", "disk 8"), .restart(), .advance(2),
                .load("/a", "disk 8"),
            ],
            requests: ["/a", "/b", "/a if-none-match=\"1\"", "/b if-none-match=\"1\""]
        ),
        HTTPScenario(
            name: "conditions follow to another origin, credentials do not",
            answers: [
                "/a": [.init(301, ["Location: $other/ob", "Cache-Control: max-age=0"])],
                "/ob": [image, confirmation],
            ],
            steps: [
                .load("/a", fields: ["Authorization": "x"], "network 8"), .restart(),
                .load("/a", fields: ["Authorization": "x"], "disk 8"),
            ],
            requests: [
                "/a authorization=x", "/ob", "/a if-none-match=\"1\" authorization=x", "/ob if-none-match=\"1\"",
            ]
        ),
        HTTPScenario(
            name: "a 304 of another target confirms nothing",
            answers: [
                "/a": [
                    .init(301, ["Location: /b", "Cache-Control: max-age=0"]),
                    .init(301, ["Location: /c", "Cache-Control: max-age=0"]),
                ],
                "/b": [image],
                "/c": [confirmation, .init(200, ["ETag: \"1\""], width: 9)],
            ],
            steps: [.load("/a", "network 8"), .load("/a", "network 9")],
            requests: ["/a", "/b", "/a if-none-match=\"1\"", "/c if-none-match=\"1\"", "/a", "/c"]
        ),
    ]

    @Test("C20 redirects limit what is kept under a URL", arguments: table)
    func redirects(_ scenario: HTTPScenario) async throws { try await scenario.run() }
}
