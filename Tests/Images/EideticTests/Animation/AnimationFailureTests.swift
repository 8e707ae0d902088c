import Eidetic
import EideticCore
import EideticTestSupport
import EideticViews
import Testing

/// Animations whose frames cannot be decoded.
@MainActor
@Suite("Animations that fail", .timeLimit(.minutes(1)))
struct AnimationFailureTests {
    private static let corrupt = EideticError(.corrupt, message: "a frame is corrupt")
    private let queue = ManualQueue()

    @Test(
        "F03 after a corrupt frame of an animation, others can be asked for in any order",
        arguments: [[15, 10], [10, 15]]
    )
    func anyOrder(_ indices: [Int]) async throws {
        let gif = AnimationFixtures.composed(try AnimationFixtures.gif(frames: 20, side: 40))
        let bytes = AnimationFixtures.gif(gif, damagedAt: 7)
        let image = try await ImagePipeline(.init()).image(for: ImageRequest(.bytes(bytes)))
        let animation = try #require(image.animation)
        for index in indices {
            let error = await #expect(throws: EideticError.self) { try await animation.frame(at: index) }
            #expect(error?.code == .corrupt)
        }
        #expect(try await animation.frame(at: 6).size == animation.size)
        await #expect(throws: EideticError.self) { try await animation.frame(at: 7) }
        #expect(animation.frameCount == 7 && animation.isComplete && animation.failure?.code == .corrupt)
    }

    @Test("F03 a view that plays backwards decodes each frame behind a corrupt one once, and ends before it")
    func backwards() throws {
        let source = ScriptedSource(frameCount: 20)
        source.fail(at: 7, with: [Self.corrupt])
        let animation = try AnimatedImage(source, frames: 3, queue: queue)
        let player = AnimationPlayer(animation, playback: AnimationPlayback(order: .reverse))
        var time = Duration.seconds(1)
        for _ in 0..<200 {
            _ = player.advance(to: time)
            #expect(queue.run(limit: 50), "no end of attempts")
            time += .milliseconds(50)
        }
        #expect(animation.frameCount == 7 && player.frameIndex < 7)
        #expect(source.decoded.filter { $0 >= 7 }.count <= 13)
    }

    @Test("F03 a second failure ends an animation earlier, and is not tried again")
    func second() throws {
        let source = ScriptedSource(frameCount: 20, isComposed: false, isComplete: false)
        for index in 1..<20 { source.fail(at: index, with: [Self.corrupt]) }
        let animation = try AnimatedImage(source, queue: queue), viewer = Counter()
        animation.end(after: EideticError(.connectionLost, message: "broken"))
        for index in [12, 5, 5, 3, 9] {
            animation.show(FrameDemand(frames: [index]), in: viewer) {}
            #expect(queue.run(limit: 20))
        }
        #expect(source.decoded == [12, 5, 3] && animation.frameCount == 3)
        #expect(animation.failure?.code == .connectionLost)
    }

    @Test(
        "F03 an error that may pass ends nothing: callers have it, and views try again after a pause",
        arguments: [EideticError.Code.limitExceeded, .outOfMemory, .sandboxUnavailable, .cancelled]
    )
    func passing(_ code: EideticError.Code) async throws {
        let source = ScriptedSource(frameCount: 20), time = ManualTime()
        let error = EideticError(code, message: "for now")
        source.fail(at: 5, with: [error, error, EideticError(.corrupt, message: "not reached")])
        let animation = try AnimatedImage(source, queue: queue, time: time), viewer = Counter()
        animation.show(FrameDemand(frames: [5]), in: viewer) {}
        #expect(queue.run(limit: 20) && source.decoded == [5])
        animation.show(FrameDemand(frames: [5, 6]), in: viewer) {}
        #expect(queue.run(limit: 20) && source.decoded == [5])
        async let frame = animation.frame(at: 8)
        try await eventually("the frame is queued") { queue.runNext() }
        do {
            _ = try await frame
            Issue.record("no error")
        } catch { #expect(code ~= error) }
        #expect(animation.frameCount == 20 && animation.failure == nil)
        source.fail(at: 5, with: [])
        time.advance(by: .seconds(2))
        animation.show(FrameDemand(frames: [5]), in: viewer) {}
        #expect(queue.run(limit: 20) && animation.decodedFrame(at: 5) != nil)
    }

    @Test("F03 L10 of a broken download, bytes that were not parsed yet are")
    func brokenDownload() throws {
        let source = ScriptedSource(frameCount: 2, isComplete: false)
        let animation = try AnimatedImage(source, queue: queue)
        animation.append([0, 0, 0], isComplete: false)
        animation.end(after: EideticError(.connectionLost, message: "broken"))
        animation.append([0], isComplete: true)
        #expect(queue.run(limit: 20))
        #expect(animation.frameCount == 5 && animation.isComplete && animation.failure?.code == .connectionLost)
    }

    @Test("F03 what has one frame left does not play, so that no clock runs for it")
    func single() throws {
        let source = ScriptedSource(frameCount: 1, isComplete: false)
        let animation = try AnimatedImage(source, queue: queue), player = AnimationPlayer(animation)
        _ = player.advance(to: .seconds(1))
        #expect(player.isPlaying)
        animation.end(after: EideticError(.connectionLost, message: "broken"))
        _ = player.advance(to: .seconds(2))
        #expect(!player.isPlaying && !player.isStalled)
        let damaged = ScriptedSource(frameCount: 2)
        damaged.fail(at: 1, with: [Self.corrupt])
        let other = AnimationPlayer(try AnimatedImage(damaged, queue: queue))
        _ = other.advance(to: .seconds(1))
        queue.run()
        _ = other.advance(to: .seconds(2))
        #expect(!other.isPlaying && other.timeToNextFrame == nil)
    }
}
