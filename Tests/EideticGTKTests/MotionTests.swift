#if GTK
import EideticTestSupport
import Testing

@Suite("GTK motion", .timeLimit(.minutes(3)), .enabled(if: Scene.canPlay, "needs Xvfb, openbox, imagemagick, nginx"))
struct MotionTests {
    @Test("L16 a picture fades in, not one from memory, and not where the user wants no motion")
    func transition() async throws { try await Scene.play("transition") }

    @Test("L16 the spinner turns and the ring fills until the picture is there")
    func indicators() async throws { try await Scene.play("indicators") }

    @Test("F03 an animation plays by the frame clock, and not where it is not seen")
    func animation() async throws { try await Scene.play("animation") }

    @Test("F03 an animation shows its first frame where the user wants no motion")
    func motion() async throws { try await Scene.play("motion") }

    @Test("L22 loads of low priority wait while a scrolled window moves")
    func scrolling() async throws { try await Scene.play("scrolling") }

    @Test(
        "L14, L19, L22 ten thousand cells scrolled at speed: none wrong, what left is cancelled, 8 ms in release mode"
    )
    func grid() async throws {
        let lines = try await Scene.play("grid")
        print(lines.first ?? "")
    }

    @Test("L22 a hidden widget gives up its urgency, not its load")
    func hidden() async throws { try await Scene.play("hidden") }
}
#endif
