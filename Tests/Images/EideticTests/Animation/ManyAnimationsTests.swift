import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import EideticViews
import Testing

/// A display that counts frames.
@MainActor
private final class CountingDisplay: ImageDisplay {
    let isDone = Gate()
    private var count = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        count += 1
        if count >= limit { isDone.open() }
        completion()
    }
}

@MainActor
@Suite("Many animations", .timeLimit(.minutes(5)))
struct ManyAnimationsTests {
    private static let side = 64

    /// Returns a GIF, whose frames are shown for 50 ms.
    private static func gif(frames: Int) throws -> [UInt8] {
        let size = PixelSize(width: side, height: side)
        let images = try (0..<frames).map { frame in
            let pixels = try PixelBuffer(size: size, alpha: .opaque) { index in
                index % side == frame % side ? SIMD4(255, 255, 255, 255) : SIMD4(UInt8(frame % 250), 60, 90, 255)
            }
            return Image.Frame(pixels: pixels, duration: .milliseconds(50))
        }
        return try ImageEncoder.encode(Image(frames: images, loopCount: nil, format: .gif, sourceSize: size), as: .gif)
    }

    /// Returns the GIF with each of the durations of its frames, in hundredths of a second.
    private static func gifs(_ bytes: [UInt8]) -> [[UInt8]] {
        var places: [Int] = [], index = 0
        while index < bytes.count - 8 {
            if bytes[index] == 0x21 && bytes[index + 1] == 0xf9 && bytes[index + 2] == 4 { places.append(index + 4) }
            index += 1
        }
        return durations.map { duration in
            var copy = bytes
            for place in places { copy[place] = duration }
            return copy
        }
    }

    private static let durations = (0..<50).map { UInt8(5 + $0 % 8) }

    /// Returns 50 animations, which the queue decodes.
    private func animations(frames: Int, queue: ManualQueue) throws -> [AnimatedImage] {
        let bytes = try Self.gif(frames: frames)
        return try Self.gifs(bytes).map { bytes in
            let source = try #require(
                try AnimationDecoder(bytes, isComplete: true, options: DecodeOptions(), limits: .standard)
            )
            let poster = try source.frame(at: 0, context: JobContext())
            return AnimatedImage(source: source, poster: poster) { queue.enqueue($0, $1) }
        }
    }

    @Test(
        "F03 50 different animations play at their durations, within their windows",
        arguments: [40, 600]
    )
    func fifty(frameCount: Int) throws {
        let queue = ManualQueue(), animations = try animations(frames: frameCount, queue: queue)
        let players = animations.map { AnimationPlayer($0) }
        let start = Duration.seconds(100), step = Duration.seconds(1) / 60
        var time = start, lags: [Int: Int] = [:]
        for player in players { _ = player.advance(to: time) }
        for _ in 0..<240 {
            time += step
            // A decoder that is not idle half of the time: ten frames are due in a step.
            for _ in 0..<20 where !queue.runNext() { break }
            for (player, duration) in zip(players, Self.durations) {
                _ = player.advance(to: time)
                let due = Int((time - start) / .milliseconds(10 * Int(duration))) % frameCount
                lags[(due - player.frameIndex + frameCount) % frameCount, default: 0] += 1
            }
            #expect(animations.allSatisfy { $0.decodedByteCount <= AnimatedImage.standardWindow })
        }
        // Each shows the frame that is due, or the one before it.
        #expect(lags.keys.allSatisfy { $0 <= 1 } && lags[0, default: 0] > 9 * lags[1, default: 0], "\(lags)")
        // A window that has all frames decodes each once.
        if frameCount == 40 { #expect(animations.allSatisfy { $0.decodedFrameCount < frameCount }) }
    }

    @Test("F03 50 slots play different animations at once") func slots() async throws {
        let bytes = try Self.gif(frames: 40), pipeline = ImagePipeline(.init())
        let displays = (0..<50).map { _ in CountingDisplay(limit: 5) }
        let slots = displays.map { ImageSlot(display: $0, pipeline: pipeline, gate: DisplayGate()) }
        for (number, (slot, bytes)) in zip(slots, Self.gifs(bytes)).enumerated() {
            slot.load(ImageRequest(.bytes(bytes + [UInt8(number)])))
        }
        for display in displays { await display.isDone.wait() }
        #expect(slots.allSatisfy { $0.player != nil })
    }
}
