#if GTK
import EideticTestSupport
import Testing

@Suite("GTK motion", .timeLimit(.minutes(3)), .needsScene)
struct MotionTests {
    @Test("L16 an image fades in, but not one from memory, and not if the user wants no motion")
    func transition() async throws { try await Scene.play("transition") }

    @Test("L16 the spinner turns and the ring fills until the image is loaded")
    func indicators() async throws { try await Scene.play("indicators") }

    @Test("F03 an animation plays by the frame clock, and only while it is visible")
    func animation() async throws { try await Scene.play("animation") }

    @Test("F03 an animation that is scrolled out of sight stands still, and plays on when a part of it is seen")
    func scrolledAnimation() async throws { try await Scene.play("animation-scrolled") }

    @Test("F03 50 different animations in a window play at their durations")
    func manyAnimations() async throws { print(try await Scene.play("many-animations").first ?? "") }

    @Test("F03 L10 an animation plays as it arrives, pauses, and shows a frame that is sought")
    func receivedAnimation() async throws { try await Scene.play("received-animation") }

    @Test("F03 an animation shows its first frame if the user wants no motion")
    func motion() async throws { try await Scene.play("motion") }

    @Test("L22 loads of low priority wait while a scrolled window moves")
    func scrolling() async throws { try await Scene.play("scrolling") }

    @Test("L22 if the shared pipeline is replaced while the user scrolls, the loads of the new one wait")
    func scrollingShared() async throws { try await Scene.play("scrolling-shared") }

    @Test(
        "L22 loads of low priority of a widget wait while a button is held in the scrolled window around it, and moved",
        .enabled(if: Subprocess.executablePath(for: "xdotool") != nil, "xdotool is not installed")
    )
    func dragging() async throws { try await Scene.play("dragging") }

    @Test(
        "L14, L19, L22 ten thousand cells scrolled at speed: none is wrong, hidden ones are cancelled, 8 ms in release mode"
    )
    func grid() async throws {
        let lines = try await Scene.play("grid")
        print(lines.first ?? "")
    }

    @Test("L22 hiding a widget lowers the priority of its load, and does not cancel it")
    func hidden() async throws { try await Scene.play("hidden") }
}
#endif
