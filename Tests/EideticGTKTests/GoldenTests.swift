#if GTK
import EideticTestSupport
import Testing

@Suite("GTK goldens", .timeLimit(.minutes(3)), .enabled(if: Scene.canPlay, "needs Xvfb, openbox, imagemagick, nginx"))
struct GoldenTests {
    @Test(
        "L01, L06 what is on the screen looks as its golden does",
        arguments: ["golden-fit", "golden-states", "golden-light", "golden-dark"]
    )
    func looks(_ name: String) async throws {
        let directory = try TemporaryDirectory(named: "golden")
        try await Scene.play(name, environment: ["EIDETIC_SCREENSHOT": directory.path(of: "screen.png")])
        try Golden(name).expect(try directory.contents(of: "screen.png"))
        // What is moved by two pixels, or by one across and down, would be found.
        let golden = try Golden(name).pixels()
        for moved in [(2, 0), (0, 2), (1, 1)] {
            #expect(Golden.difference(golden, golden, moved: moved) > 10 * Golden.share, "\(moved)")
        }
    }
}
#endif
