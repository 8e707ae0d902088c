import EideticBackground
import EideticCore
import Testing

@Suite("Wakes for background sessions", .timeLimit(.minutes(1)))
struct SessionWakeTests {
    @MainActor
    private final class DefaultDelegate: ApplicationDelegate {}

    @MainActor
    private final class StoringDelegate: ApplicationDelegate {
        var identifier: String?
        let (completion, continuation) = AsyncStream<Void>.makeStream()
        var onCall: (() -> Void)?

        func application(
            _ application: Application,
            handleEventsForBackgroundURLSession identifier: String
        ) async {
            self.identifier = identifier
            onCall?()
            for await _ in completion {}
        }
    }

    @Test("B14 a wake for a session ends when the application returns from its method")
    @MainActor
    func storedHandler() async {
        let delegate = StoringDelegate(), application = Application()
        // The method returns after the wake has begun to wait for it.
        delegate.onCall = { Task { @MainActor in delegate.continuation.finish() } }
        let wake = delegate.handleEvents(ofBackgroundURLSession: "books", for: application)
        // The session learns of the wake, so that it can tell the application if no event is left.
        #expect(BackgroundSessionWakes.shared.isHolding("books"))
        for await _ in wake {}
        #expect(delegate.identifier == "books")
        #expect(!BackgroundSessionWakes.shared.isHolding("books"))
    }

    @Test("B14 a wake for a session that is cancelled is not waited for any longer")
    @MainActor
    func cancelledWake() async {
        let delegate = StoringDelegate(), application = Application()
        let wake = delegate.handleEvents(ofBackgroundURLSession: "cancelled-wake", for: application)
        let task = Task { for await _ in wake {} }
        task.cancel()
        await task.value
        #expect(!BackgroundSessionWakes.shared.isHolding("cancelled-wake"))
    }

    @Test("B14 without an implementation the wake ends when the session has delivered its events")
    @MainActor
    func defaultHandler() async {
        let delegate = DefaultDelegate(), application = Application()
        let wake = delegate.handleEvents(ofBackgroundURLSession: "wake-test", for: application)
        #expect(BackgroundSessionWakes.shared.isHolding("wake-test"))
        BackgroundSessionWakes.shared.complete("wake-test")
        for await _ in wake {}
        #expect(!BackgroundSessionWakes.shared.isHolding("wake-test"))
    }
}
