import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import EideticViews
import Testing

@MainActor
@Suite("Animations in slots", .timeLimit(.minutes(2)))
struct AnimatedSlotTests {
    private let display = FrameDisplay()

    @Test("F03 a slot plays by default, to the last frame of the last loop") func plays() async throws {
        // A clock of its own, because a late slot skips frames.
        let clock = SleepingClock()
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate(), time: clock) {
            await clock.sleep(for: $0)
        }
        slot.load(ImageRequest(.bytes(try AnimationFixtures.gif(frames: 4, loopCount: 2))))
        try await eventually("the slot plays") { slot.player != nil }
        let player = try #require(slot.player)
        while !player.isFinished {
            try await eventually("the slot sleeps, or has played") { clock.sleeperCount > 0 || player.isFinished }
            clock.advance(by: .milliseconds(20))
        }
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
        // A second frame is shown before the rest of the file is sent; a busy machine skips some.
        await display.wait(forImages: 2)
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
        // A busy machine skips frames, so their number says nothing.
        try await eventually("the player waits for bytes") { slot.player?.isStalled == true }
        let player = try #require(slot.player)
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
        try await eventually("the first frame is shown") { display.pixels.last?.allBytes == expected }
        #expect(slot.player == nil)
        first.open()
        try await eventually("the animation plays") { slot.player != nil }
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
        await display.wait(forImages: 2)
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
