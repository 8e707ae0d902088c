import Eidetic
import EideticTestSupport
import EideticViews
import Testing

/// Playback in slots, with a clock that the tests advance.
@MainActor
@Suite("Playback in slots", .timeLimit(.minutes(1)))
struct SlotPlaybackTests {
    private let display = FrameDisplay(), clock = SleepingClock()

    /// Returns a slot that plays an animation of 10 frames, all of which are decoded.
    private func playingSlot(
        _ playback: AnimationPlayback = AnimationPlayback()
    ) async throws -> (slot: ImageSlot, frames: [PixelBuffer]) {
        let pipeline = ImagePipeline(.init()), loaded = Gate()
        let request = ImageRequest(.bytes(try AnimationFixtures.gif(frames: 10)))
        let animation = try #require(try await pipeline.image(for: request).animation)
        var frames: [PixelBuffer] = []
        for index in 0..<10 { frames.append(try await animation.frame(at: index)) }
        let slot = ImageSlot(display: display, pipeline: pipeline, gate: DisplayGate(), time: clock) {
            [clock] in await clock.sleep(for: $0)
        }
        slot.playback = playback
        slot.load(request) { _ in loaded.open() }
        await loaded.wait()
        #expect(slot.player?.animation === animation)
        return (slot, frames)
    }

    /// Advances the clock to the next frame, and waits for it.
    private func showNextFrame(after milliseconds: Int = 20) async throws {
        try await eventually("the slot sleeps") { clock.sleeperCount > 0 }
        let count = display.pixels.count
        clock.advance(by: .milliseconds(milliseconds))
        await display.wait(forImages: count + 1)
    }

    @Test("F03 a slot shows the next frame when its clock says so") func ticks() async throws {
        let (slot, frames) = try await playingSlot()
        for index in 1...12 {
            try await showNextFrame()
            #expect(display.pixels.last === frames[index % 10] && slot.player?.frameIndex == index % 10)
        }
    }

    @Test("F03 the player of a slot pauses and resumes what is shown") func pause() async throws {
        let (slot, frames) = try await playingSlot(), player = try #require(slot.player)
        try await showNextFrame()
        player.pause()
        #expect(clock.sleeperCount == 0)
        clock.advance(by: .seconds(5))
        player.resume()
        #expect(display.pixels.last === frames[1])
        try await showNextFrame()
        #expect(display.pixels.last === frames[2])
    }

    @Test("F03 the player of a slot shows a frame that is sought, playing, paused and after the end")
    func seek() async throws {
        let (slot, frames) = try await playingSlot(AnimationPlayback(loops: .times(1)))
        let player = try #require(slot.player)
        player.seek(toFrame: 8)
        #expect(display.pixels.last === frames[8])
        try await showNextFrame()
        #expect(display.pixels.last === frames[9])
        try await waitForEnd(of: player)
        player.seek(toTime: .milliseconds(65))
        #expect(display.pixels.last === frames[3])
        try await showNextFrame(after: 15)
        #expect(display.pixels.last === frames[4])
        player.pause()
        player.seek(toFrame: 0)
        #expect(display.pixels.last === frames[0] && player.timeToNextFrame == nil)
        player.resume()
        try await showNextFrame()
        #expect(display.pixels.last === frames[1])
    }

    private func waitForEnd(of player: AnimationPlayer) async throws {
        try await eventually("the end of the last loop") {
            clock.advance(by: .milliseconds(20))
            return player.isFinished
        }
    }

    @Test("F03 the time of a pause by speed 0, and after the end, does not count") func zeroSpeed() async throws {
        let (slot, frames) = try await playingSlot(AnimationPlayback(loops: .times(2)))
        try await showNextFrame()
        slot.playback.speed = 0
        clock.advance(by: .seconds(10))
        slot.playback.speed = 1
        #expect(display.pixels.last === frames[1] && slot.player?.isFinished == false)
        let player = try #require(slot.player)
        try await waitForEnd(of: player)
        clock.advance(by: .seconds(10))
        slot.playback.loops = .forever
        #expect(player.frameIndex == 9)
        try await showNextFrame()
        #expect(display.pixels.last === frames[0])
    }

    @Test("F03 time until a change of speed passes at the earlier speed") func changeOfSpeed() async throws {
        let (slot, _) = try await playingSlot()
        try await eventually("the slot sleeps") { clock.sleeperCount > 0 }
        clock.advance(by: .milliseconds(12))
        slot.playback.speed = 4
        #expect(slot.player?.frameIndex == 0 && slot.player?.timeToNextFrame == .milliseconds(2))
    }

    @Test(
        "F03 any speed plays: what is no number pauses, what is out of range is limited",
        arguments: [
            (Double.infinity, false), (-.infinity, false), (.nan, false), (-1, false), (0, false), (1e300, true),
            (1e12, true), (.leastNonzeroMagnitude, true), (1e-21, true),
        ]
    )
    func extremeSpeed(_ speed: Double, isPlaying: Bool) async throws {
        let (slot, _) = try await playingSlot(AnimationPlayback(speed: speed)), player = try #require(slot.player)
        #expect(player.isPlaying == isPlaying && (player.timeToNextFrame != nil) == isPlaying)
        for time in [Duration.zero, .milliseconds(16), .seconds(1), .seconds(1 << 40)] {
            _ = player.advance(to: clock.uptime + time)
            #expect((0..<10).contains(player.frameIndex))
        }
        if let time = player.timeToNextFrame { #expect(time > .zero && time <= .seconds(21)) }
    }

    @Test("F03 a seek while nobody sees the view decodes nothing, and is shown when it is seen")
    func unseen() throws {
        let queue = ManualQueue(), source = ScriptedSource(frameCount: 100)
        let animation = try AnimatedImage(source, frames: 3, queue: queue), player = AnimationPlayer(animation)
        _ = player.advance(to: .seconds(1))
        queue.run()
        player.suspend()
        let count = source.decoded.count
        player.seek(toFrame: 60)
        #expect(queue.run() && source.decoded.count == count && animation.viewerCount == 0)
        _ = player.advance(to: .seconds(9))
        queue.run()
        _ = player.advance(to: .seconds(9))
        #expect(player.frameIndex == 60 && animation.viewerCount == 1)
    }
}
