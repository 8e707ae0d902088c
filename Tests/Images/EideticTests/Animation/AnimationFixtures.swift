import Eidetic
import EideticCore
import EideticTestSupport
import EideticViews

/// Animations in a file, with frames of 20 ms.
enum AnimationFixtures {
    /// Returns a GIF whose frames differ from one another.
    static func gif(frames: Int, side: Int = 16, loopCount: Int? = nil) throws -> [UInt8] {
        let size = PixelSize(width: side, height: side)
        let images = try (0..<frames).map { number in
            let pixels = try PixelBuffer(size: size, alpha: .opaque) { index in
                let isBar = index % side == number % side || index / side == number / side % side
                return isBar ? SIMD4(255, 0, 0, 255) : SIMD4(UInt8(number % 6 * 40), 200, 40, 255)
            }
            return Image.Frame(pixels: pixels, duration: .milliseconds(20))
        }
        let image = Image(frames: images, loopCount: loopCount, format: .gif, sourceSize: size)
        return try image.encoded(as: .gif)
    }

    /// Returns such a GIF with frames that may show the ones before, so that all of them are drawn.
    static func composed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for index in bytes.indices.dropLast(8) where bytes[index...].starts(with: [0x21, 0xf9, 4]) {
            // Colour 255 is transparent, and no frame is disposed of.
            (bytes[index + 3], bytes[index + 6]) = (5, 255)
        }
        return bytes
    }

    /// Returns such a GIF with pixels that are no valid code in one of its frames.
    static func gif(_ bytes: [UInt8], damagedAt frame: Int) -> [UInt8] {
        var bytes = bytes
        let controls = bytes.indices.dropLast(8).filter { bytes[$0...].starts(with: [0x21, 0xf9, 4]) }
        // The graphic control, the frame's header, its 256 colours, the code size and the length.
        let pixels = controls[frame] + 8 + 10 + 768 + 2
        for index in pixels..<pixels + 12 { bytes[index] = 0xff }
        return bytes
    }
}

extension PixelBuffer {
    var allBytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// A display without a clock of its own.
@MainActor
final class FrameDisplay: ImageDisplay {
    private(set) var pixels: [PixelBuffer] = []
    private(set) var previewCount = 0
    /// A Boolean value indicating whether nothing is shown.
    private(set) var isEmpty = true
    private var waiting: (count: Int, gate: Gate)?

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        isEmpty = image == nil
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

/// A clock that a test advances, and that wakes those who sleep until then.
final class SleepingClock: TimeSource, Sendable {
    private struct Sleeper {
        let end: Duration
        let waiter = Waiter<Bool>()
    }

    private let state = Guarded((uptime: Duration.seconds(1_000), sleepers: [Sleeper]()))

    var now: Timestamp { Timestamp(seconds: 1_767_225_600) }
    var uptime: Duration { state.withLock { $0.uptime } }
    var sleeperCount: Int { state.withLock { $0.sleepers.count { !$0.waiter.isResumed } } }

    func sleep(for duration: Duration) async {
        guard !Task.isCancelled else { return }
        let sleeper = state.withLock { state in
            let sleeper = Sleeper(end: state.uptime + duration)
            state.sleepers.append(sleeper)
            return sleeper
        }
        _ = await sleeper.waiter.value(ifCancelled: false)
        state.withLock { $0.sleepers.removeAll { $0.waiter === sleeper.waiter } }
    }

    /// Advances the time, and returns whether somebody was woken.
    @discardableResult
    func advance(by duration: Duration) -> Bool {
        let due = state.withLock { state in
            state.uptime += duration
            let uptime = state.uptime
            defer { state.sleepers.removeAll { $0.end <= uptime } }
            return state.sleepers.filter { $0.end <= uptime }
        }
        for sleeper in due { sleeper.waiter.resume(returning: true) }
        return !due.isEmpty
    }
}
