#if GTK
internal import CGTK
import Eidetic
import EideticViews
import EideticCore

/// The display of one part of a widget: its paintable, its transition and its animation.
@MainActor
final class WidgetSlot: PlayingDisplay {
    let paintable: ObjectReference
    /// The pipeline of all loads; `nil` for the shared one at the start of each.
    let ownPipeline: ImagePipeline?
    var playback = AnimationPlayback() { didSet { player?.playback = playback } }
    private(set) lazy var imageSlot = ImageSlot(display: self, pipeline: ownPipeline)
    private weak var state: WidgetState?
    private var image: Image?
    private(set) var player: AnimationPlayer?
    /// The textures of the frames that were shown, by their number, of an animation whose frames all stay in memory.
    private var textures: [Int: ObjectReference] = [:]
    private var drawnPixels: PixelBuffer?
    /// The time of the player: that of the frames in which the widget was drawn.
    private var playedTime = Duration.zero
    private var fade: Fade?
    private var indicator: ImageIndicator?
    private var spinnerPhase = 0.0
    private var pendingLoad: PendingLoad?
    /// Loads the image again; `nil` if its size does not depend on the screen.
    private var reload: (@MainActor () -> Void)?
    /// The number of loads that were started here.
    private(set) var generation: UInt64 = 0

    /// A running transition.
    private struct Fade {
        let duration: Duration
        let completion: @MainActor () -> Void
        var elapsed = Duration.zero
    }

    /// A load that starts when the widget has a size.
    private struct PendingLoad {
        let start: @MainActor () -> Void
        let cancel: @MainActor () -> Void
        var frames = 0
    }

    init(state: WidgetState, pipeline: ImagePipeline?) {
        self.state = state
        ownPipeline = pipeline
        guard let paintable = eidetic_paintable_new() else { preconditionFailure("GObject cannot create a paintable") }
        self.paintable = ObjectReference(adopting: paintable)
    }

    var hasImage: Bool { image != nil }

    func startLoad(_ body: () -> Void) {
        generation += 1
        reload = nil
        cancelPendingLoad()
        body()
    }

    /// Sets the function that loads the shown image again, when the scale of the screen has changed.
    func followScale(_ body: @escaping @MainActor () -> Void) { reload = body }

    /// Loads the image again for another scale of the screen.
    func scaleChanged() { reload?() }

    /// Starts a load in place of the earlier one, when the widget has a size.
    func deferLoad(start: @escaping @MainActor () -> Void, cancel: @escaping @MainActor () -> Void) {
        generation += 1
        reload = nil
        let ownGeneration = generation
        cancelPendingLoad()
        guard generation == ownGeneration else { return cancel() }
        pendingLoad = PendingLoad(start: start, cancel: cancel)
        state?.restartTick()
    }

    /// A Boolean value indicating whether a load waits for the widget's size.
    var hasPendingLoad: Bool { pendingLoad != nil }

    /// Cancels the load; the shown image stays.
    func cancel() {
        cancelPendingLoad()
        imageSlot.cancel()
    }

    /// Cancels the load and ends the transition after the widget was destroyed.
    func invalidate() {
        cancelPendingLoad()
        player = nil
        finishFade()
        imageSlot.cancel()
    }

    private func cancelPendingLoad() {
        let cancelled = pendingLoad
        pendingLoad = nil
        cancelled?.cancel()
    }
}

// MARK: Drawing
extension WidgetSlot {
    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        if let animation = image?.streamed, player?.animation === animation {
            // The download is finished, and its animation goes on.
            self.image = image
            state?.restartTick()
            return completion()
        }
        MainThreadWatch.measure {
            let texture = replaceImage(with: image)
            if let transition, transition.duration > .zero, let state, state.allowsMotion, state.isMapped {
                withExtendedLifetime(texture) {
                    eidetic_paintable_begin_fade(paintable.rawPointer, $0?.rawPointer, scale, covers ? 1 : 0)
                }
                fade = Fade(duration: transition.duration, completion: completion)
            } else {
                show(texture)
            }
            play()
            state?.updatePaintable()
        }
        if fade == nil { completion() }
    }

    func displayPreview(_ image: Image, over background: Image?) {
        if let animation = image.streamed, player?.animation === animation { return }
        MainThreadWatch.measure {
            let texture = replaceImage(with: image)
            let backgroundTexture = background.map { TextureCache.texture(for: $0.pixels) }
            withExtendedLifetime((texture, backgroundTexture)) { texture, background in
                eidetic_paintable_show_over(
                    paintable.rawPointer,
                    texture?.rawPointer,
                    background?.rawPointer,
                    scale,
                    covers ? 1 : 0
                )
            }
            play()
            state?.updatePaintable()
        }
    }

    /// Ends the motion of the earlier image, and returns the texture of the new one.
    private func replaceImage(with image: Image?) -> ObjectReference? {
        finishFade()
        self.image = image
        player = nil
        textures = [:]
        drawnPixels = nil
        return image.map { texture(for: $0.pixels, ofFrame: 0) }
    }

    /// Returns the texture of a frame, which is kept if the pixels are.
    private func texture(for pixels: PixelBuffer, ofFrame number: Int) -> ObjectReference {
        drawnPixels = pixels
        let texture = TextureCache.texture(for: pixels)
        let window = AnimatedImage.standardWindow.bytes
        let isKept = image?.streamed.map { pixels.byteCount.bytes * $0.frameCount <= window }
        if isKept ?? (image?.isAnimated == true) { textures[number] = texture }
        return texture
    }

    func displayIndicator(_ indicator: ImageIndicator?) {
        self.indicator = indicator
        drawIndicator()
        state?.restartTick()
    }

    /// The number of the image's pixels for one pixel of the toolkit.
    private var scale: Double { (image?.scale ?? 1) * (state?.scaleFactor ?? 1) }

    private var covers: Bool { state?.contentMode == .fill }

    private func drawIndicator() {
        let (kind, value): (EideticIndicator, Double) =
            switch indicator {
            case nil: (EIDETIC_INDICATOR_NONE, 0)
            case .spinner, .progress(nil): (EIDETIC_INDICATOR_SPINNER, spinnerPhase)
            case .progress(let fraction?): (EIDETIC_INDICATOR_RING, fraction)
            }
        eidetic_paintable_set_indicator(paintable.rawPointer, kind, value)
    }

    private var isSpinning: Bool { indicator == .spinner || indicator == .progress(nil) }
}

// MARK: Motion
extension WidgetSlot {
    /// A Boolean value indicating whether the next frame may change something.
    var needsTick: Bool {
        pendingLoad != nil || fade != nil
            || (state?.allowsMotion == true && state?.isInView == true
                && (isSpinning || player.map { $0.isPlaying && !$0.isStalled } ?? false))
    }

    /// A Boolean value indicating whether something moves while the widget can be seen.
    var hasMotion: Bool { isSpinning || player != nil }

    func advance(by time: Duration) {
        advancePendingLoad()
        advanceFade(by: time)
        guard state?.allowsMotion == true, state?.isInView == true else { return }
        advancePlayer(by: time)
        if isSpinning {
            spinnerPhase = (spinnerPhase + time / .seconds(1)).truncatingRemainder(dividingBy: 1)
            drawIndicator()
        }
    }

    /// Ends the transition and lowers the priority of the load after the widget was unmapped.
    func didUnmap() {
        finishFade()
        suspendPlayer()
        imageSlot.task?.priority = .low
    }

    /// Stops the clock of the animation, which nobody sees.
    func suspendPlayer() { player?.suspend() }

    /// Shows what has arrived while nobody saw the animation, and goes on.
    func resumePlayer() { if player != nil { showChange() } }

    /// Restores the priority of the load after the widget was mapped, and shows what has arrived meanwhile.
    func didMap() {
        resumePlayer()
        guard let task = imageSlot.task else { return }
        task.priority = task.request.priority
    }

    func motionChanged() {
        finishFade()
        play()
        showFrame()
    }

    /// Plays the image from its start, if it is animated and motion is allowed.
    private func play() {
        player = state?.allowsMotion == true ? image?.animation.map { AnimationPlayer($0, playback: playback) } : nil
        // The frame clock stands still while the frames of a download are missing.
        player?.frameArrived = { [weak self] in self?.showChange() }
        player?.changed = { [weak self] in self?.showChange() }
        state?.restartTick()
    }

    /// Shows a frame that has arrived, or that was sought, and waits for the next one.
    private func showChange() {
        if let state, state.isInView, state.allowsMotion {
            advancePlayer(by: .zero)
            state.restartTick()
        } else {
            player?.suspend()
        }
    }

    private func advancePlayer(by time: Duration) {
        guard fade == nil, let player else { return }
        playedTime += time
        _ = player.advance(to: playedTime)
        showFrame()
    }

    /// Shows the player's frame, or the first one without a player, if another one is drawn.
    private func showFrame() {
        guard let pixels = player?.pixels ?? image?.pixels, pixels !== drawnPixels else { return }
        show(texture(for: pixels, ofFrame: player?.frameIndex ?? 0))
    }

    /// Shows a texture, which nothing else needs to retain until the paintable does.
    private func show(_ texture: ObjectReference?) {
        withExtendedLifetime(texture) { eidetic_paintable_show(paintable.rawPointer, $0?.rawPointer, scale) }
    }

    private func advanceFade(by time: Duration) {
        guard fade != nil else { return }
        fade?.elapsed += time
        guard let fade, fade.elapsed < fade.duration else { return finishFade() }
        // The transition is slow at both ends.
        let fraction = fade.elapsed / fade.duration
        eidetic_paintable_set_fade(paintable.rawPointer, fraction * fraction * (3 - 2 * fraction))
    }

    private func finishFade() {
        let finished = fade
        fade = nil
        guard let finished else { return }
        eidetic_paintable_set_fade(paintable.rawPointer, 1)
        finished.completion()
    }

    /// Starts the pending load when the widget has a size.
    ///
    /// A mapped widget has its size in the second frame. One without a size by then gets none before it shows an image.
    private func advancePendingLoad() {
        guard pendingLoad != nil, let state else { return }
        pendingLoad?.frames += 1
        guard state.knownSize != nil || pendingLoad?.frames ?? 0 > 2 else { return }
        let dueLoad = pendingLoad
        pendingLoad = nil
        dueLoad?.start()
    }
}
#endif
