import EideticTestSupport
import Testing

@testable import Eidetic

/// The moments at which work is done that nobody waits for.
@Suite("Decodes that callers wait for", .timeLimit(.minutes(1)))
struct ActivityTests {
    private let activity = Activity()
    private let isDone = Gate()

    /// Starts a wait, and returns when it waits.
    private func startWait() -> Task<Void, Never> {
        Task.immediate { [activity, isDone] in
            await activity.waitUntilIdle(orEnded: DerivedImageStore.longestWait)
            isDone.open()
        }
    }

    @Test("C23 a derived image waits until the last decode has ended, and not where none runs")
    func idle() async {
        await activity.waitUntilIdle()
        activity.begin()
        activity.begin()
        let wait = startWait()
        activity.end()
        #expect(!isDone.isOpen)
        activity.end()
        await wait.value
        #expect(isDone.isOpen)
    }

    @Test("C23 where a decode always runs, a derived image is made after 64 others, and not before")
    func neverIdle() async {
        activity.begin()
        let wait = startWait()
        for _ in 0..<63 {
            activity.begin()
            activity.end()
        }
        #expect(!isDone.isOpen)
        activity.begin()
        activity.end()
        await wait.value
        #expect(isDone.isOpen)
    }
}
