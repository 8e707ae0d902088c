import Eidetic
import EideticCore
import EideticTestSupport
import EideticViews
import Testing

@MainActor
@Suite("Animations that are received", .timeLimit(.minutes(2)))
struct ReceivedAnimationTests {
    @Test("F03 L10 a view that waits for frames of a download is woken by them alone, and begins with the next one")
    func waiting() async throws {
        let queue = ManualQueue(), source = ScriptedSource(frameCount: 2, isComplete: false)
        let animation = try AnimatedImage(source, queue: queue), player = AnimationPlayer(animation)
        let wakes = Guarded(0), isWoken = Gate()
        player.frameArrived = {
            wakes.withLock { $0 += 1 }
            isWoken.open()
        }
        #expect(!player.advance(to: .seconds(1)) && queue.run())
        #expect(player.advance(to: .milliseconds(1_050)) && !player.isStalled)
        #expect(!player.advance(to: .seconds(2)) && player.isStalled && player.timeToNextFrame == nil)
        // Bytes without a frame change nothing, nor do frames of another viewer.
        animation.append([], isComplete: false)
        animation.show(FrameDemand(frames: [1]), in: queue) {}
        queue.run()
        // What was sent to the main actor before has run.
        await Task { @MainActor in }.value
        #expect(wakes.withLock { $0 } == 0 && player.isStalled)
        animation.append([0, 0, 0], isComplete: false)
        queue.run()
        await isWoken.wait()
        #expect(wakes.withLock { $0 } == 1 && !player.isStalled)
        // However long it has waited.
        _ = player.advance(to: .seconds(60))
        queue.run()
        #expect(player.advance(to: .seconds(60)) && player.frameIndex == 2)
        #expect(player.timeToNextFrame == .milliseconds(50))
        #expect(player.advance(to: .milliseconds(60_050)) && player.frameIndex == 3)
    }

    @Test("F03 L10 a view that waits for frames is woken by the one that is late, too, and waits on")
    func lateFrame() async throws {
        let queue = ManualQueue(), source = ScriptedSource(frameCount: 2, isComplete: false)
        let animation = try AnimatedImage(source, queue: queue), player = AnimationPlayer(animation)
        let wakes = Counter(), late = Duration.seconds(2)
        player.frameArrived = {
            wakes.increment()
            _ = player.advance(to: late)
        }
        _ = player.advance(to: .seconds(1))
        // Frame 1 is due, and its time over, before it is decoded.
        #expect(!player.advance(to: late) && player.isStalled && player.frameIndex == 0)
        queue.run()
        try await eventually("frame", is: 1) { player.frameIndex }
        animation.append([0], isComplete: false)
        queue.run()
        try await eventually("number of wakes", is: 2) { wakes.value }
        queue.run()
        try await eventually("frame", is: 2) { player.frameIndex }
    }

    @Test("F03 L10 frames that arrive before a view waits for them are shown at once") func race() throws {
        let queue = ManualQueue(), source = ScriptedSource(frameCount: 1, isComplete: false)
        let animation = try AnimatedImage(source, queue: queue), player = AnimationPlayer(animation)
        _ = player.advance(to: .seconds(1))
        animation.append([0, 0], isComplete: true)
        queue.run()
        _ = player.advance(to: .milliseconds(1_050))
        queue.run()
        #expect(player.advance(to: .milliseconds(1_060)) && player.frameIndex == 1)
    }
}
