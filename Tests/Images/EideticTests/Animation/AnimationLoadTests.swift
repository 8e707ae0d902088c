import Eidetic
import EideticCore
import EideticTestSupport
import EideticViews
import Testing

/// Animations that are decoded more slowly than they play, or for several views with little room.
@MainActor
@Suite("Animations under load", .timeLimit(.minutes(2)))
struct AnimationLoadTests {
    private let queue = ManualQueue()

    /// Returns players that begin at these frames, decoded and running.
    private func players(of animation: AnimatedImage, at frames: [Int], time: Duration) -> [AnimationPlayer] {
        let players = frames.map { frame in
            let player = AnimationPlayer(animation)
            player.seek(toFrame: frame)
            return player
        }
        for _ in frames {
            for player in players { _ = player.advance(to: time) }
            queue.run()
        }
        for player in players { _ = player.advance(to: time) }
        return players
    }

    @Test("F03 a view whose frames are drawn too slowly shows at least every fourth that is drawn")
    func slow() throws {
        let source = ScriptedSource(frameCount: 300, duration: .milliseconds(20))
        let animation = try AnimatedImage(source, frames: 3, queue: queue), player = AnimationPlayer(animation)
        var time = Duration.seconds(1), shown: [Int] = []
        _ = player.advance(to: time)
        while source.drawCount < 900 {
            let before = source.drawCount
            queue.runNext()
            // A frame is drawn in 30 ms, and shown for 20 ms.
            time += .milliseconds(max(1, 30 * (source.drawCount - before)))
            if player.advance(to: time) { shown.append(player.frameIndex) }
        }
        #expect(shown.count >= 900 / 4 - 10, "\(shown.count)")
        // They are shown in their order, until the clock begins the next loop.
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 - $0 <= 8 && ($1 > $0 || $1 <= 8) }, "\(shown)")
    }

    @Test("F03 frames that stand alone are left out under load, and time does not slow down")
    func independent() throws {
        let source = ScriptedSource(frameCount: 300, duration: .milliseconds(20), isComposed: false)
        let animation = try AnimatedImage(source, frames: 3, queue: queue), player = AnimationPlayer(animation)
        let start = Duration.seconds(1)
        var time = start, lags: [Int] = []
        _ = player.advance(to: time)
        for _ in 0..<400 {
            queue.runNext()
            time += .milliseconds(110)
            _ = player.advance(to: time)
            let due = Int((time - start) / .milliseconds(20)) % 300
            lags.append((due - player.frameIndex + 300) % 300)
        }
        // A frame is decoded in the time of five and a half.
        #expect(lags.allSatisfy { $0 <= 12 }, "\(lags.max() ?? 0)")
    }

    @Test("F03 views that are paused keep no frame from one that plays")
    func paused() throws {
        let animation = try AnimatedImage(ScriptedSource(frameCount: 300), frames: 3, queue: queue)
        var time = Duration.seconds(1)
        let players = players(of: animation, at: [5, 9, 100], time: time)
        #expect(players.map(\.frameIndex) == [5, 9, 100])
        players[0].pause()
        players[1].playback.speed = 0
        for step in 1...150 {
            time += .milliseconds(50)
            for _ in 0..<2 {
                for player in players { _ = player.advance(to: time) }
                queue.run()
            }
            for player in players { _ = player.advance(to: time) }
            #expect(players.map(\.frameIndex) == [5, 9, 100 + step])
        }
    }

    @Test("F03 many views at different places of one animation all have their frames, with room for two")
    func outOfPhase() throws {
        let animation = try AnimatedImage(ScriptedSource(frameCount: 300), frames: 3, queue: queue)
        var time = Duration.seconds(1)
        let starts = [10, 60, 110, 160, 210], players = players(of: animation, at: starts, time: time)
        for step in 1...80 {
            time += .milliseconds(50)
            for _ in starts {
                for player in players { _ = player.advance(to: time) }
                #expect(queue.run(limit: 100))
            }
            for player in players { _ = player.advance(to: time) }
            #expect(players.map(\.frameIndex) == starts.map { $0 + step })
        }
        #expect(animation.decodedByteCount.bytes <= 3 * 16)
    }

    @Test("F03 two views at different places of a long animation are given frames in a row")
    func rows() throws {
        let source = ScriptedSource(frameCount: 500)
        let animation = try AnimatedImage(source, frames: 64, queue: queue)
        var time = Duration.seconds(1)
        let players = players(of: animation, at: [20, 270], time: time)
        let count = source.decoded.count
        for step in 1...400 {
            time += .milliseconds(50)
            queue.run()
            for player in players { _ = player.advance(to: time) }
            #expect(players.map(\.frameIndex) == [20 + step, (270 + step) % 500])
        }
        let decoded = source.decoded.dropFirst(count)
        let jumps = zip(decoded, decoded.dropFirst()).count { !(1...4).contains(($1 - $0 + 500) % 500) }
        #expect(jumps <= 100, "\(jumps) of \(decoded.count)")
    }

    @Test("F03 two views of a long animation at one place share the decodes")
    func inPhase() throws {
        let source = ScriptedSource(frameCount: 500), animation = try AnimatedImage(source, frames: 64, queue: queue)
        var time = Duration.seconds(1)
        let players = (0..<50).map { _ in AnimationPlayer(animation) }
        for _ in 0..<100 {
            for player in players { _ = player.advance(to: time) }
            queue.run()
            time += .milliseconds(50)
        }
        #expect(Set(players.map(\.frameIndex)) == [99])
        #expect(source.decoded.count == Set(source.decoded).count && source.decoded.count < 120)
    }

    @Test("F03 work that is queued becomes urgent with a frame that is due, and is chosen when it starts")
    func priority() async throws {
        let source = ScriptedSource(frameCount: 100), viewer = Counter()
        let animation = try AnimatedImage(source, queue: queue)
        animation.show(FrameDemand(frames: Array(0..<50), isFirstShown: true), in: viewer) {}
        #expect(queue.priorities == [.normal])
        queue.runNext()
        // The next frame is there; one in advance may wait for the images of views.
        #expect(queue.priorities == [.low] && source.decoded == [1])
        async let frame = animation.frame(at: 30)
        try await eventually("priorities of the queue", is: [.normal]) { queue.priorities }
        queue.runNext()
        _ = try await frame
        #expect(source.decoded == [1, 30] && queue.priorities == [.low])
        animation.show(FrameDemand(frames: [70, 71]), in: viewer) {}
        #expect(queue.priorities == [.normal])
        queue.runNext()
        #expect(source.decoded.last == 70)
    }

    @Test("F03 a view of an animation whose frames are all decoded asks for nothing")
    func fullyDecoded() throws {
        let source = ScriptedSource(frameCount: 40), animation = try AnimatedImage(source, queue: queue)
        let first = AnimationPlayer(animation)
        _ = first.advance(to: .seconds(1))
        queue.run()
        #expect(animation.isFullyDecoded && animation.viewerCount == 1)
        let second = AnimationPlayer(animation)
        for step in 0..<100 { _ = second.advance(to: .milliseconds(1_000 + 50 * step)) }
        #expect(animation.viewerCount == 1 && second.frameIndex == 99 % 40 && queue.priorities.isEmpty)
    }
}
