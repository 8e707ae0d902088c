import EideticCore

/// Plays the animation that a slot shows, in a display without a clock of its own.
///
/// It waits until the next frame is due, and not at all while nobody sees the display, while the application is in the
/// background, or while frames are missing.
@MainActor
final class SlotAnimator {
    private weak var display: (any ImageDisplay)?
    private let gate: DisplayGate
    private let time: any TimeSource
    private let sleep: Sleep
    private(set) var player: AnimationPlayer?
    private var image: Image?
    private var timer: Task<Void, Never>?
    /// The frame that the display shows.
    private var drawnPixels: PixelBuffer?

    var playback = AnimationPlayback() {
        didSet {
            guard playback != oldValue else { return }
            // The time until now has passed at the earlier speed.
            run()
            player?.playback = playback
        }
    }
    var isVisible = true { didSet { run() } }
    var allowsMotion = true {
        didSet {
            guard allowsMotion != oldValue, let image else { return }
            display?.displayFrame(image.still(image.pixels))
            restart(image)
        }
    }

    /// A function that waits for a time, or until its task is cancelled.
    typealias Sleep = @Sendable (Duration) async -> Void

    init(display: any ImageDisplay, gate: DisplayGate, time: any TimeSource, sleep: @escaping Sleep) {
        self.display = display
        self.gate = gate
        self.time = time
        self.sleep = sleep
    }

    isolated deinit { timer?.cancel() }

    /// Returns `true` if the animation of an image plays already; otherwise, `false`.
    func isPlaying(_ image: Image) -> Bool {
        guard let animation = image.streamed else { return false }
        return player?.animation === animation
    }

    /// Plays an image in place of the one before; `nil` and still images play nothing.
    func play(_ image: Image?) {
        guard !(display is any PlayingDisplay) else { return }
        timer?.cancel()
        timer = nil
        player = nil
        self.image = nil
        guard let image, image.isAnimated else { return }
        self.image = image
        restart(image)
    }

    private func restart(_ image: Image) {
        player = allowsMotion ? image.animation.map { AnimationPlayer($0, playback: playback) } : nil
        player?.frameArrived = { [weak self] in self?.run() }
        player?.changed = { [weak self] in self?.run() }
        drawnPixels = image.pixels
        run()
    }

    /// Shows the frame that is due, and waits for the next one.
    private func run() {
        timer?.cancel()
        timer = nil
        guard let player, let image else { return }
        guard isVisible else { return player.suspend() }
        guard !gate.resumeMotion(of: self, body: { [weak self] in self?.run() }) else { return player.suspend() }
        _ = player.advance(to: time.uptime)
        draw(player.pixels, of: image)
        // The player calls `frameArrived` for a frame that is missing.
        guard player.isPlaying, let delay = player.timeToNextFrame else { return }
        timer = Task { [weak self, sleep] in
            await sleep(delay)
            if !Task.isCancelled { self?.run() }
        }
    }

    private func draw(_ pixels: PixelBuffer, of image: Image) {
        guard pixels !== drawnPixels else { return }
        drawnPixels = pixels
        display?.displayFrame(image.still(pixels))
    }
}

extension Image {
    /// Returns other pixels with the attributes of this image, as a still image.
    fileprivate func still(_ pixels: PixelBuffer) -> Image { replacingFrames([Frame(pixels: pixels)]) }
}
