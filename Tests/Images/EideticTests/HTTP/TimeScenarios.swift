import Eidetic
import Testing

/// The age of responses, and dates.
@Suite("HTTP: times", .timeLimit(.minutes(1)))
struct TimeScenarios {
    private static let confirmation = HTTPScenario.Answer(304, ["ETag: \"1\""])

    /// A resource of which the first response has these fields.
    private static func answers(_ fields: String...) -> [String: [HTTPScenario.Answer]] {
        ["/a": [.init(200, ["ETag: \"1\""] + fields, width: 8), confirmation]]
    }

    static let table: [HTTPScenario] = [
        HTTPScenario(
            name: "the age counts from the request",
            answers: answers("Cache-Control: max-age=60"),
            steps: [
                .load("/a", "network 8"), .advance(49), .load("/a", "memory 8"), .restart(), .load("/a", "disk 8"),
                .restart(), .advance(1), .load("/a", "disk 8"),
            ],
            requests: ["/a", "/a if-none-match=\"1\""],
            delay: 10
        ),
        HTTPScenario(
            name: "in memory too the age counts from the request",
            answers: answers("Cache-Control: max-age=60"),
            steps: [.load("/a", "network 8"), .advance(50), .load("/a", "disk 8")],
            requests: ["/a", "/a if-none-match=\"1\""],
            delay: 10
        ),
        HTTPScenario(
            name: "the age of a confirmed response counts from the request that confirmed it",
            answers: answers("Cache-Control: max-age=60"),
            steps: [
                .load("/a", "network 8"), .advance(100), .load("/a", "disk 8"), .restart(), .advance(50),
                .load("/a", "disk 8"),
            ],
            requests: ["/a", "/a if-none-match=\"1\"", "/a if-none-match=\"1\""],
            delay: 10
        ),
        HTTPScenario(
            name: "an entry above the maximum age of the disk is confirmed, not loaded again",
            answers: answers("Cache-Control: max-age=10"),
            steps: [.load("/a", "network 8"), .restart(), .advance(61), .load("/a", "disk 8")],
            requests: ["/a", "/a if-none-match=\"1\""],
            maximumAge: 60
        ),
        HTTPScenario(
            name: "the maximum age of the disk limits the lifetime of a response",
            answers: answers("Cache-Control: max-age=3600"),
            steps: [.load("/a", "network 8"), .restart(), .advance(61), .load("/a", "disk 8")],
            requests: ["/a", "/a if-none-match=\"1\""],
            maximumAge: 60
        ),
        HTTPScenario(
            name: "an Expires date that does not exist is in the past",
            answers: answers("Expires: Mon, 32 Jan 2050 00:00:00 GMT"),
            steps: [.load("/a", "network 8"), .restart(), .load("/a", "disk 8")],
            requests: ["/a", "/a if-none-match=\"1\""]
        ),
        // As in Chromium, Firefox and Safari.
        HTTPScenario(
            name: "an Expires date with UTC, doubled spaces and without comma",
            answers: answers("Expires: Sat 01  Jan  2050 00:00:00 UTC"),
            steps: [.load("/a", "network 8"), .restart(), .load("/a", "disk 8")],
            requests: ["/a"]
        ),
        HTTPScenario(
            name: "a valid Expires date",
            answers: answers("Expires: Sat, 01 Jan 2050 00:00:00 GMT"),
            steps: [.load("/a", "network 8"), .restart(), .load("/a", "disk 8")],
            requests: ["/a"]
        ),
    ]

    @Test("C20 age and dates", arguments: table)
    func times(_ scenario: HTTPScenario) async throws { try await scenario.run() }
}
