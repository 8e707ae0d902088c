import Eidetic
import EideticTestSupport
import Testing

/// Returns a GIF whose frames differ from one another.
private func makeGIF(frames: Int, side: Int = 16, loopCount: Int? = nil) throws -> [UInt8] {
    let size = PixelSize(width: side, height: side)
    let images = try (0..<frames).map { number in
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { index in
            let isBar = index % side == number % side || index / side == number / side % side
            return isBar ? SIMD4(255, 0, 0, 255) : SIMD4(UInt8(number % 6 * 40), 200, 40, 255)
        }
        return Image.Frame(pixels: pixels, duration: .milliseconds(20))
    }
    return try ImageEncoder.encode(
        Image(frames: images, loopCount: loopCount, format: .gif, sourceSize: size),
        as: .gif
    )
}

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
        let bytes = try makeGIF(frames: 12), expected = try await expectedFrames(bytes), image = try await load(bytes)
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
        let bytes = try makeGIF(frames: 5)
        let first = try await load(bytes, options: .firstFrameOnly)
        #expect(!first.isAnimated && first.animation == nil)
        let all = try await load(bytes, options: .preloadAllFrames), animation = try #require(all.animation)
        #expect(all.frames.count == 5 && animation.frameCount == 5 && animation.decodedFrameCount == 0)
        #expect(animation.decodedFrame(at: 4) === all.frames[4].pixels)
        #expect(try await load(TestImage.png(width: 3, height: 3)).animation == nil)
    }

    @Test("C01 F03 an animation in memory costs what its window keeps, and loads share it")
    func memory() async throws {
        let bytes = try makeGIF(frames: 300, side: 128), pipeline = ImagePipeline(.init())
        let request = ImageRequest(.bytes(bytes))
        let image = try await pipeline.image(for: request), animation = try #require(image.animation)
        #expect(try await pipeline.image(for: request).animation === animation)
        let window = AnimatedImage.standardWindow.bytes
        #expect(300 * 4 * 128 * 128 > 2 * window)
        for index in 0..<300 {
            _ = try await animation.frame(at: index)
            #expect(animation.decodedByteCount.bytes <= window)
        }
        #expect(animation.decodedByteCount.bytes > window / 2)
        let canvases = 3 * 4 * 128 * 128
        #expect(image.cost.bytes >= window && image.cost.bytes <= window + bytes.count + canvases)
    }

    @Test("F03 50 views of one animation decode each frame once") func sharedFrames() async throws {
        let image = try await load(try makeGIF(frames: 20)), animation = try #require(image.animation)
        let players = (0..<50).map { _ in AnimationPlayer(animation) }
        var time = Duration.seconds(100)
        for _ in 0..<200 {
            for player in players { _ = player.advance(to: time) }
            time += .milliseconds(10)
        }
        try await settle(animation)
        // The load has decoded the first frame.
        #expect(animation.decodedFrameCount == 19)
        for player in players { _ = player.advance(to: time) }
        #expect(Set(players.map(\.frameIndex)).count == 1)
    }

    @Test("F03 frames are left out under load, instead of slowing down") func skipping() async throws {
        let image = try await load(try makeGIF(frames: 20)), animation = try #require(image.animation)
        try await settle(animation)
        let player = AnimationPlayer(animation), start = Duration.seconds(5)
        var shown: [Int] = []
        for step in 0..<5 where player.advance(to: start + .milliseconds(70 * step)) { shown.append(player.frameIndex) }
        #expect(shown == [3, 7, 10, 14])
    }

    @Test("F03 speed, pause, seek and the number of loops") func controls() async throws {
        let image = try await load(try makeGIF(frames: 10)), animation = try #require(image.animation)
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

    @Test("F03 a suspended player lets nothing be decoded, and time stands still") func suspended() async throws {
        let image = try await load(try makeGIF(frames: 300, side: 128)), animation = try #require(image.animation)
        let player = AnimationPlayer(animation)
        _ = player.advance(to: .seconds(1))
        #expect(animation.viewerCount == 1)
        player.suspend()
        #expect(animation.viewerCount == 0)
        _ = player.advance(to: .seconds(50))
        #expect(player.frameIndex == 0 && animation.viewerCount == 1)
    }

    @Test("L13 an animation is transformed frame by frame on request, and otherwise not")
    func transforms() async throws {
        let bytes = try makeGIF(frames: 6), flip = ImageTransforms.Flip(vertical: true)
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
        let whole = try makeGIF(frames: 20, side: 40), bytes = Array(whole.prefix(whole.count / 2))
        let image = try await load(bytes), animation = try #require(image.animation)
        var count = 0
        while (try? await animation.frame(at: count)) != nil { count += 1 }
        #expect((5...15).contains(count) && animation.frameCount == count && animation.isComplete)
    }
}

/// A source of plain frames, one for each byte, each of which is shown for 50 ms.
private final class ByteSource: FrameSource, @unchecked Sendable {
    private(set) var info: AnimationInfo
    let retainedByteCount = 0

    init(frameCount: Int) {
        let size = PixelSize(width: 2, height: 2)
        info = AnimationInfo(
            format: .gif,
            size: size,
            sourceSize: size,
            durations: Array(repeating: .milliseconds(50), count: frameCount),
            loopCount: nil,
            isComplete: false
        )
    }

    func append(_ bytes: [UInt8], isComplete: Bool) throws(EideticError) -> AnimationInfo {
        info.durations += bytes.map { _ in .milliseconds(50) }
        info.isComplete = isComplete
        return info
    }

    func frame(at index: Int, context: JobContext) throws(EideticError) -> PixelBuffer {
        try PixelBuffer(size: info.size, alpha: .opaque) { _ in SIMD4(UInt8(index), 0, 0, 255) }
    }
}

@MainActor
@Suite("Animations that are received", .timeLimit(.minutes(2)))
struct ReceivedAnimationTests {
    @Test("F03 L10 a view that waits for frames of a download is woken by them alone, and begins with the next one")
    func waiting() async throws {
        let source = ByteSource(frameCount: 2), poster = try source.frame(at: 0, context: JobContext())
        // Work is done at once, on the calling thread.
        let animation = AnimatedImage(source: source, poster: poster) { _, operation in operation() }
        let player = AnimationPlayer(animation), wakes = Guarded(0), isWoken = Gate()
        player.frameArrived = {
            wakes.withLock { $0 += 1 }
            isWoken.open()
        }
        #expect(!player.advance(to: .seconds(1)) && player.advance(to: .milliseconds(1_050)) && !player.isStalled)
        #expect(!player.advance(to: .seconds(2)) && player.isStalled && player.timeToNextFrame == nil)
        // Bytes without a frame change nothing.
        animation.append([], isComplete: false)
        await Task.yield()
        #expect(wakes.withLock { $0 } == 0 && player.isStalled)
        animation.append([0, 0, 0], isComplete: false)
        await isWoken.wait()
        #expect(wakes.withLock { $0 } == 1 && !player.isStalled)
        // However long it has waited.
        #expect(player.advance(to: .seconds(60)) && player.frameIndex == 2)
        #expect(player.timeToNextFrame == .milliseconds(50))
        #expect(player.advance(to: .milliseconds(60_050)) && player.frameIndex == 3)
    }

    @Test("F03 L10 frames that arrive before a view waits for them are shown at once") func race() throws {
        let source = ByteSource(frameCount: 1), poster = try source.frame(at: 0, context: JobContext())
        let animation = AnimatedImage(source: source, poster: poster) { _, operation in operation() }
        let player = AnimationPlayer(animation)
        _ = player.advance(to: .seconds(1))
        animation.append([0, 0], isComplete: true)
        #expect(player.advance(to: .milliseconds(1_060)) && player.frameIndex == 1)
    }
}

extension PixelBuffer {
    fileprivate var allBytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// A display without a clock of its own.
@MainActor
private final class FrameDisplay: ImageDisplay {
    private(set) var pixels: [PixelBuffer] = []
    private(set) var previewCount = 0
    private var waiting: (count: Int, gate: Gate)?

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        if let image { pixels.append(image.pixels) }
        if let waiting, pixels.count >= waiting.count { waiting.gate.open() }
        completion()
    }

    func displayPreview(_ image: Image, over background: Image?) {
        previewCount += 1
        display(image, transition: nil) {}
    }

    func wait(forImages count: Int) async {
        let gate = Gate()
        waiting = (count, gate)
        if pixels.count >= count { gate.open() }
        await gate.wait()
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
        slot.load(ImageRequest(.bytes(try makeGIF(frames: 4, loopCount: 2))))
        await display.wait(forImages: 4)
        let player = try #require(slot.player)
        while !player.isFinished { await Task.yield() }
        #expect(player.frameIndex == 3)
        #expect(Set(display.pixels.map(ObjectIdentifier.init)).count == 4)
    }

    @Test("F03 firstFrameOnly, reduced motion and an unseen slot show one frame") func doesNotPlay() async throws {
        let bytes = try makeGIF(frames: 4, loopCount: nil)
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
        let bytes = try makeGIF(frames: 30, loopCount: nil), gate = Gate(), part = bytes.count / 3
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
        let bytes = try makeGIF(frames: 30, loopCount: nil), gate = Gate(), part = bytes.count / 3
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
        otherSlot.load(ImageRequest(.bytes(try makeGIF(frames: 4, side: 8, loopCount: nil))))
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
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init())), finished = Gate()
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
        #expect(animation.frameCount == count + 1 && animation.cost.bytes < limit + 2 * bytes.count)
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

    @Test("F03 L10 of a download that breaks off, the frames that have arrived stay") func broken() async throws {
        let bytes = try makeGIF(frames: 30, loopCount: nil), gate = Gate(), part = bytes.count / 3
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
        #expect(animation.isComplete && animation.frameCount >= 5 && animation.frameCount < 20)
        #expect(animation.failure != nil)
    }
}
