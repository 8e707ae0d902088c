import Eidetic
import EideticCodecs
import EideticTestSupport
import EideticViews
import Testing

@MainActor
@Suite("Animations", .timeLimit(.minutes(2)))
struct AnimatedImageTests {
    private func load(_ bytes: [UInt8], options: ImageOptions = []) async throws -> Image {
        try await ImagePipeline(.init()).image(for: ImageRequest(.bytes(bytes), options: options))
    }

    private func expectedFrames(_ bytes: [UInt8]) async throws -> [[UInt8]] {
        try await load(bytes, options: .preloadAllFrames).frames.map { $0.pixels.allBytes }
    }

    /// Decodes all frames, and with them what is in the queue before.
    private func settle(_ animation: AnimatedImage) async throws {
        for index in 0..<animation.frameCount { _ = try await animation.frame(at: index) }
    }

    @Test("F03 a load delivers the first frame, and any other by number") func frames() async throws {
        let bytes = try AnimationFixtures.gif(frames: 12), expected = try await expectedFrames(bytes)
        let image = try await load(bytes)
        #expect(image.frames.count == 1 && image.isAnimated && !image.isPartial)
        let animation = try #require(image.animation)
        #expect(animation.frameCount == 12 && animation.isComplete && animation.loopCount == nil)
        for index in [7, 3, 11, 0, 0, 10] {
            #expect(try await animation.frame(at: index).allBytes == expected[index])
        }
        for index in [-1, 12] {
            let error = await #expect(throws: EideticError.self) { try await animation.frame(at: index) }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test("L06 firstFrameOnly has no animation, preloadAllFrames has all its frames decoded")
    func options() async throws {
        let bytes = try AnimationFixtures.gif(frames: 5)
        let first = try await load(bytes, options: .firstFrameOnly)
        #expect(!first.isAnimated && first.animation == nil)
        let all = try await load(bytes, options: .preloadAllFrames), animation = try #require(all.animation)
        #expect(all.frames.count == 5 && animation.frameCount == 5 && animation.decodedFrameCount == 0)
        #expect(animation.decodedFrame(at: 4) === all.frames[4].pixels)
        #expect(try await load(TestImage.png(width: 3, height: 3)).animation == nil)
    }

    @Test("C01 F03 memory charges an animation for its window, its bytes and its canvases, and loads share it")
    func memory() async throws {
        let bytes = try AnimationFixtures.gif(frames: 300, side: 128), pipeline = ImagePipeline(.init())
        let request = ImageRequest(.bytes(bytes)), memory = pipeline.cache.memory.images
        let image = try await pipeline.image(for: request), animation = try #require(image.animation)
        #expect(try await pipeline.image(for: request).animation === animation)
        let window = AnimatedImage.standardWindow.bytes, canvas = 4 * 128 * 128
        #expect(300 * canvas > 2 * window)
        // Up to two canvases, and as many copies of it as the window has room for.
        let charged = memory.totalCost.bytes
        let least = bytes.count + 2 * window
        #expect(charged == image.cost.bytes && (least...least + 2 * canvas).contains(charged))
        for index in Array(0..<300) + (200..<300).reversed() {
            _ = try await animation.frame(at: index)
            #expect(animation.decodedByteCount.bytes <= window)
        }
        #expect(animation.decodedByteCount.bytes > window / 2)
        #expect(image.cost.bytes <= charged && memory.totalCost.bytes == charged)
    }

    @Test("C01 L10 memory charges an animation that was received for all its bytes")
    func receivedMemory() async throws {
        let bytes = try AnimationFixtures.gif(frames: 200, side: 64), gate = Gate()
        let server = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(Array(bytes.prefix(20_000))),
                .wait(gate), .send(Array(bytes.dropFirst(20_000))),
            ]
        }
        let pipeline = ImagePipeline(.init()), finished = Gate()
        let slot = ImageSlot(display: FrameDisplay(), pipeline: pipeline)
        slot.load(ImageRequest(server.url + "/a.gif", options: .progressive)) { _ in finished.open() }
        try await eventually("the slot has a player") { slot.player != nil }
        let animation = try #require(slot.player?.animation)
        #expect(!animation.isComplete)
        gate.open()
        await finished.wait()
        let charged = pipeline.cache.memory.images.totalCost.bytes
        for index in 0..<200 { _ = try await animation.frame(at: index) }
        #expect(charged >= bytes.count + animation.decodedByteCount.bytes && animation.cost.bytes <= charged)
    }

    @Test("F03 50 views of one animation decode each frame once, wherever they begin")
    func sharedFrames() async throws {
        let image = try await load(try AnimationFixtures.gif(frames: 20)), animation = try #require(image.animation)
        let players = (0..<50).map { _ in AnimationPlayer(animation) }
        for (index, player) in players.enumerated() { player.seek(toFrame: index % 20) }
        var time = Duration.seconds(100)
        for _ in 0..<200 {
            for player in players { _ = player.advance(to: time) }
            time += .milliseconds(10)
        }
        try await settle(animation)
        // The load has decoded the first frame.
        #expect(animation.decodedFrameCount == 19)
        for player in players { _ = player.advance(to: time) }
        #expect(Set(players.map(\.frameIndex)).count == 20)
    }

    @Test("F03 frames are left out if time has passed them, instead of slowing down") func skipping() async throws {
        let image = try await load(try AnimationFixtures.gif(frames: 20)), animation = try #require(image.animation)
        try await settle(animation)
        let player = AnimationPlayer(animation), start = Duration.seconds(5)
        var shown: [Int] = []
        for step in 0..<5 where player.advance(to: start + .milliseconds(70 * step)) { shown.append(player.frameIndex) }
        #expect(shown == [3, 7, 10, 14])
    }

    @Test("F03 speed, pause, seek and the number of loops") func controls() async throws {
        let image = try await load(try AnimationFixtures.gif(frames: 10)), animation = try #require(image.animation)
        try await settle(animation)
        let player = AnimationPlayer(animation, playback: AnimationPlayback(speed: 2, loops: .times(2)))
        var time = Duration.seconds(5)
        func pass(_ milliseconds: Int) -> Int {
            time += .milliseconds(milliseconds)
            _ = player.advance(to: time)
            return player.frameIndex
        }
        #expect(pass(0) == 0 && player.timeToNextFrame == .milliseconds(10))
        #expect(pass(10) == 1 && pass(20) == 3)
        player.pause()
        #expect(pass(500) == 3 && player.timeToNextFrame == nil)
        player.resume()
        #expect(pass(500) == 3 && pass(10) == 4)
        player.seek(toFrame: 8)
        #expect(player.frameIndex == 8 && pass(100) == 8 && pass(20) == 0)
        player.playback.order = .reverse
        #expect(pass(0) == 0 && pass(10) == 9)
        player.playback.loops = .forever
        #expect(pass(0) == 9 && pass(10) == 8)
    }

    @Test("F03 a suspended player lets nothing be decoded, and time stands still") func suspended() throws {
        let queue = ManualQueue(), source = ScriptedSource(frameCount: 300)
        let animation = try AnimatedImage(source, frames: 40, queue: queue), player = AnimationPlayer(animation)
        _ = player.advance(to: .seconds(1))
        queue.runNext()
        #expect(source.decoded == [1] && queue.priorities.count == 1)
        player.suspend()
        // What was queued finds nothing to do.
        #expect(queue.run() && source.decoded == [1] && animation.viewerCount == 0)
        _ = player.advance(to: .seconds(50))
        #expect(player.frameIndex == 0)
        #expect(queue.run() && source.decoded.count > 10)
    }

    @Test("L13 an animation is transformed frame by frame on request, and otherwise not")
    func transforms() async throws {
        let bytes = try AnimationFixtures.gif(frames: 6), flip = ImageTransforms.Flip(vertical: true)
        let plain = try await expectedFrames(bytes)
        for (options, isFlipped) in [(ImageOptions(), false), (.transformAnimatedImage, true)] {
            let request = ImageRequest(.bytes(bytes), rendering: .init(transform: flip), options: options)
            let image = try await ImagePipeline(.init()).image(for: request), animation = try #require(image.animation)
            for index in [0, 5, 2] {
                let pixels = try await animation.frame(at: index).allBytes
                #expect((pixels == plain[index]) == !isFlipped, "\(options) \(index)")
            }
        }
    }

    @Test("F03 a frame that is cut off ends the animation before it") func damage() async throws {
        let whole = try AnimationFixtures.gif(frames: 20, side: 40), bytes = Array(whole.prefix(whole.count / 2))
        let image = try await load(bytes), animation = try #require(image.animation)
        var count = 0
        while (try? await animation.frame(at: count)) != nil { count += 1 }
        #expect((5...15).contains(count) && animation.frameCount == count && animation.isComplete)
        for index in (0..<20).reversed() {
            let pixels = try? await animation.frame(at: index)
            #expect((pixels != nil) == (index < count))
        }
        #expect(animation.frameCount == count)
    }
}
