import Eidetic
import EideticTestSupport
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

    /// Returns the GIF with another duration of its frames, in hundredths of a second.
    private static func gif(_ bytes: [UInt8], duration: UInt8) -> [UInt8] {
        var bytes = bytes
        for index in bytes.indices.dropLast(8) where bytes[index...].starts(with: [0x21, 0xf9, 4]) {
            bytes[index + 4] = duration
        }
        return bytes
    }

    private static let durations = (0..<50).map { UInt8(5 + $0 % 8) }

    /// Returns 50 animations; of those with the same durations, the bytes differ behind the end.
    private func animations(frames: Int) async throws -> [AnimatedImage] {
        let bytes = try Self.gif(frames: frames), pipeline = ImagePipeline(.init())
        var animations: [AnimatedImage] = []
        for (number, duration) in Self.durations.enumerated() {
            let request = ImageRequest(.bytes(Self.gif(bytes, duration: duration) + [UInt8(number)]))
            animations.append(try #require(try await pipeline.image(for: request).animation))
        }
        return animations
    }

    @Test(
        "F03 50 different animations play at their durations, within their windows and half a core",
        arguments: [40, 600]
    )
    func fifty(frameCount: Int) async throws {
        let animations = try await animations(frames: frameCount)
        #expect(Set(animations.map(ObjectIdentifier.init)).count == 50)
        let players = animations.map { AnimationPlayer($0) }
        let start = Duration.seconds(100), processor = ProcessorTime.ofProcess, stepCount = 240
        for step in 0..<stepCount {
            let elapsed = Duration.seconds(1) * step / 60
            for (player, duration) in zip(players, Self.durations) {
                _ = player.advance(to: start + elapsed)
                // A frame that is not decoded in time is late by one step of the clock.
                let due = Int(elapsed / .milliseconds(10 * Int(duration))) % frameCount
                #expect([0, 1, frameCount - 1].contains((due - player.frameIndex + frameCount) % frameCount))
            }
            for (player, animation) in zip(players, animations) {
                _ = try await animation.frame(at: (player.frameIndex + 1) % frameCount)
                #expect(animation.decodedByteCount <= AnimatedImage.standardWindow)
            }
        }
        let share = (ProcessorTime.ofProcess - processor) / (.seconds(1) * stepCount / 60)
        print("50 animations of \(frameCount) frames, \(Self.side) x \(Self.side): \(share) of a core")
        #expect(share < 0.5)
        // A window that has all frames decodes each once.
        if frameCount == 40 { #expect(animations.allSatisfy { $0.decodedFrameCount < frameCount }) }
    }

    @Test("F03 50 slots with different animations need less than half a core") func slots() async throws {
        let bytes = try Self.gif(frames: 40), pipeline = ImagePipeline(.init())
        let displays = (0..<50).map { _ in CountingDisplay(limit: 30) }
        let slots = displays.map { ImageSlot(display: $0, pipeline: pipeline, gate: DisplayGate()) }
        let wall = SystemTime().uptime, processor = ProcessorTime.ofProcess
        for (number, slot) in slots.enumerated() {
            slot.load(ImageRequest(.bytes(Self.gif(bytes, duration: Self.durations[number]) + [UInt8(number)])))
        }
        for display in displays { await display.isDone.wait() }
        let share = (ProcessorTime.ofProcess - processor) / (SystemTime().uptime - wall)
        print("50 slots: \(share) of a core")
        #expect(share < 0.5 && slots.allSatisfy { $0.player != nil })
    }
}
