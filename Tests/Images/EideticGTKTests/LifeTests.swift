#if GTK
import EideticTestSupport
import Testing

@Suite("GTK lives", .timeLimit(.minutes(3)), .needsScene)
struct LifeTests {
    @Test("L14 a widget's death cancels its loads in every order of events, and the widget is released")
    func deaths() async throws { try await Scene.play("deaths") }

    @Test("L14 a widget may die in its own completion and in a transition")
    func deathsWithin() async throws { try await Scene.play("deaths-within") }

    @Test("L14 a thousand widgets leave no memory behind")
    func leaks() async throws { try await Scene.play("leaks") }

    @Test("L17 the main actor is the thread of GLib's main loop")
    func mainActor() async throws { try await Scene.play("main-actor") }

    @Test("L17 a program whose application was never started ends with MainLoop.finish()")
    func finish() async throws { try await Scene.play("finish") }

    @Test("L17 jobs of the main actor that never end do not prevent drawing")
    func flood() async throws { try await Scene.play("flood") }
}
#endif
