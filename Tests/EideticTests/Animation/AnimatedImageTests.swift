import Eidetic
import EideticTestSupport
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
        while slot.player == nil { await Task.yield() }
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
        await Task.yield()
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
        while player.frameIndex != 1 { await Task.yield() }
        animation.append([0], isComplete: false)
        queue.run()
        while wakes.value < 2 { await Task.yield() }
        queue.run()
        while player.frameIndex != 2 { await Task.yield() }
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

/// The system's clocks, and how often they were read.
private final class CountingTime: TimeSource {
    private let reads = Guarded(0)
    var count: Int { reads.withLock { $0 } }
    var now: Timestamp { SystemTime().now }
    var uptime: Duration {
        reads.withLock { $0 += 1 }
        return SystemTime().uptime
    }
}

@MainActor
@Suite("Animations in slots", .timeLimit(.minutes(2)))
struct AnimatedSlotTests {
    private let display = FrameDisplay()

    @Test("F03 a slot plays by default, to the last frame of the last loop") func plays() async throws {
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()))
        slot.load(ImageRequest(.bytes(try AnimationFixtures.gif(frames: 4, loopCount: 2))))
        await display.wait(forImages: 4)
        let player = try #require(slot.player)
        while !player.isFinished { await Task.yield() }
        #expect(player.frameIndex == 3)
        #expect(Set(display.pixels.map(ObjectIdentifier.init)).count == 4)
    }

    @Test("F03 firstFrameOnly, reduced motion and an unseen slot show one frame") func doesNotPlay() async throws {
        let bytes = try AnimationFixtures.gif(frames: 4, loopCount: nil)
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()))
        slot.load(ImageRequest(.bytes(bytes), options: .firstFrameOnly))
        await display.wait(forImages: 1)
        #expect(slot.player == nil)
        slot.allowsMotion = false
        slot.load(ImageRequest(.bytes(bytes)))
        await display.wait(forImages: 2)
        #expect(slot.player == nil)
        slot.isVisible = false
        slot.allowsMotion = true
        let animation = try #require(slot.player?.animation)
        #expect(animation.viewerCount == 0)
        slot.isVisible = true
        #expect(animation.viewerCount == 1)
    }

    @Test("F03 L10 an animation plays while it arrives, and goes on when it is complete")
    func streams() async throws {
        let bytes = try AnimationFixtures.gif(frames: 30, loopCount: nil), gate = Gate(), part = bytes.count / 3
        let server = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(Array(bytes.prefix(part))),
                .wait(gate), .send(Array(bytes.dropFirst(part))),
            ]
        }
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init())), finished = Gate()
        slot.load(ImageRequest(server.url + "/a.gif", options: .progressive)) { _ in finished.open() }
        // Several frames are shown before the rest of the file is sent.
        await display.wait(forImages: 5)
        let player = try #require(slot.player)
        #expect(!player.animation.isComplete && player.animation.frameCount < 20)
        gate.open()
        await finished.wait()
        #expect(slot.player === player)
        _ = try await player.animation.frame(at: 29)
        #expect(player.animation.isComplete && player.animation.frameCount == 30)
    }

    @Test("F03 L10 a slot that waits for a download does not look at the clock") func idle() async throws {
        let bytes = try AnimationFixtures.gif(frames: 30, loopCount: nil), gate = Gate(), part = bytes.count / 3
        let server = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(Array(bytes.prefix(part))),
                .wait(gate), .send(Array(bytes.dropFirst(part))),
            ]
        }
        let time = CountingTime(), pipeline = ImagePipeline(.init()), finished = Gate()
        let slot = ImageSlot(display: display, pipeline: pipeline, gate: DisplayGate(), time: time)
        slot.load(ImageRequest(server.url + "/a.gif", options: .progressive)) { _ in finished.open() }
        await display.wait(forImages: 5)
        let player = try #require(slot.player)
        while !player.isStalled { await Task.yield() }
        // Another slot measures the time: some frames of 20 ms.
        let other = FrameDisplay(), otherSlot = ImageSlot(display: other, pipeline: pipeline, gate: DisplayGate())
        otherSlot.load(ImageRequest(.bytes(try AnimationFixtures.gif(frames: 4, side: 8, loopCount: nil))))
        await other.wait(forImages: 2)
        let count = time.count
        await other.wait(forImages: 15)
        #expect(time.count == count && player.isStalled)
        gate.open()
        await finished.wait()
        await display.wait(forImages: 20)
        #expect(time.count > count && slot.player === player)
    }

    @Test("F03 L10 the first frame of an animation of 20 MB is shown after its own bytes, and its memory is bounded")
    func large() async throws {
        let (head, frame) = try makeNoise(side: 600), count = 20_000_000 / frame.count + 1
        let bytes = head + (0..<count).flatMap { _ in frame } + [0x3b], first = Gate(), gate = Gate()
        let server = try ScriptedOrigin { _ in
            let length = head.count + frame.count / 2
            return [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(head), .wait(first),
                .send(Array(bytes[head.count..<length])), .wait(gate), .send(Array(bytes.dropFirst(length))),
            ]
        }
        let expected = try ImageDecoder.decode(head + [0x3b]).pixels.allBytes
        let pipeline = ImagePipeline(.init()), finished = Gate()
        let slot = ImageSlot(display: display, pipeline: pipeline)
        slot.load(ImageRequest(server.url + "/a.gif", options: .progressive)) { _ in finished.open() }
        // Until the second frame begins, the first one is that of a still image.
        while display.pixels.last?.allBytes != expected { await display.wait(forImages: display.pixels.count + 1) }
        #expect(slot.player == nil)
        first.open()
        while slot.player == nil { await display.wait(forImages: display.pixels.count + 1) }
        let animation = try #require(slot.player?.animation)
        #expect(animation.frameCount == 1 && !animation.isComplete)
        gate.open()
        await finished.wait()
        let limit = max(AnimatedImage.standardWindow.bytes, 3 * 4 * 600 * 600)
        for index in 0..<12 {
            _ = try await animation.frame(at: index)
            #expect(animation.decodedByteCount.bytes <= limit)
        }
        // Memory has, and is charged for, the file, the window, two canvases, and copies of it up to another window.
        let charged = pipeline.cache.memory.images.totalCost.bytes
        #expect(animation.frameCount == count + 1 && animation.cost.bytes <= charged)
        #expect((bytes.count...bytes.count + 2 * limit + 8 * 600 * 600).contains(animation.cost.bytes))
    }

    /// Returns the beginning of a GIF with one frame of noise, and a second frame.
    private func makeNoise(side: Int) throws -> (head: [UInt8], frame: [UInt8]) {
        let size = PixelSize(width: side, height: side)
        var number = UInt32(1)
        let frames = try (0..<2).map { _ in
            let pixels = try PixelBuffer(size: size, alpha: .opaque) { _ in
                number = number &* 1_664_525 &+ 1_013_904_223
                let grey = UInt8(number >> 24)
                return SIMD4(grey, grey, grey, 255)
            }
            return Image.Frame(pixels: pixels, duration: .milliseconds(500))
        }
        func encoded(_ frames: [Image.Frame]) throws -> [UInt8] {
            try ImageEncoder.encode(Image(frames: frames, loopCount: nil, format: .gif, sourceSize: size), as: .gif)
        }
        let two = try encoded(frames), three = try encoded(frames + [frames[1]]), length = three.count - two.count
        return (Array(two.dropLast(length + 1)), Array(two.dropLast().suffix(length)))
    }

    @Test("F03 L10 the animation of a download that breaks off ends after its frames, and the slot shows it no more")
    func broken() async throws {
        let bytes = try AnimationFixtures.gif(frames: 30, loopCount: nil), gate = Gate(), part = bytes.count / 3
        let server = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(bytes.count)"]), .send(Array(bytes.prefix(part))),
                .wait(gate), .close,
            ]
        }
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init())), finished = Gate()
        slot.load(ImageRequest(server.url + "/a.gif", options: .progressive)) { _ in finished.open() }
        await display.wait(forImages: 3)
        let animation = try #require(slot.player?.animation)
        gate.open()
        await finished.wait()
        // This waits for the bytes that are parsed last.
        await #expect(throws: EideticError.self) { try await animation.frame(at: 29) }
        let count = animation.frameCount
        #expect(animation.isComplete && animation.failure != nil && count == wholeFrames(in: part, of: bytes))
        for index in 0..<count { _ = try await animation.frame(at: index) }
        #expect(display.isEmpty && slot.player == nil)
    }

    /// Returns the number of frames of a GIF that are whole in its first bytes.
    private func wholeFrames(in count: Int, of bytes: [UInt8]) -> Int {
        // A frame ends where the control of the next one begins.
        bytes.indices.dropLast(8).filter { $0 <= count && bytes[$0...].starts(with: [0x21, 0xf9, 4]) }.count - 1
    }
}
