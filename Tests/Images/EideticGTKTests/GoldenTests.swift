#if GTK
import EideticTestSupport
import Testing

@Suite("GTK goldens", .timeLimit(.minutes(3)), .needsScene)
struct GoldenTests {
    @Test(
        "L01, L06 the screenshot of a scene matches its golden",
        arguments: ["golden-fit", "golden-states", "golden-light", "golden-dark"]
    )
    func matchesGolden(name: String) async throws {
        let directory = try TemporaryDirectory(named: "golden")
        try await Scene.play(name, environment: ["EIDETIC_SCREENSHOT": directory.path(of: "screen.png")])
        try Golden(name).expect(try directory.contents(of: "screen.png"))
        // A shift by two pixels, or by one in both directions, would be detected.
        let golden = try Golden(name).pixels()
        for shift in [(2, 0), (0, 2), (1, 1)] {
            #expect(
                Golden.difference(between: golden, and: golden, shiftedBy: shift) > 10 * Golden.allowedDifference,
                "\(shift)"
            )
        }
    }
}
#endif
