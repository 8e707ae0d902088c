#if GTK
internal import CGTK
import Eidetic
import EideticCore

/// One place of a widget where a picture is seen: what is drawn there, and how it moves.
@MainActor
final class WidgetSlot: ImageDisplay {
    let paintable: ObjectReference
    let pipeline: ImagePipeline
    var rules = AnimationRules() { didSet { play() } }
    private(set) lazy var slot = ImageSlot(display: self, pipeline: pipeline)
    private weak var state: WidgetState?
    private var image: Image?
    private var player: FramePlayer?
    /// The textures of an animation's frames that were shown already.
    private var textures: [Int: ObjectReference] = [:]
    private var fade: Fade?
    private var indicator: ImageIndicator?
    private var turnOfSpinner = 0.0
    private var waiting: Waiting?
    private(set) var turn: UInt64 = 0

    /// A transition under way.
    private struct Fade {
        let duration: Duration
        let completion: @MainActor () -> Void
        var passed = Duration.zero
    }

    /// A load that begins when the widget has a size.
    private struct Waiting {
        let begin: @MainActor () -> Void
        let cancel: @MainActor () -> Void
        var frames = 0
    }

    init(_ state: WidgetState, _ pipeline: ImagePipeline) {
        self.state = state
        self.pipeline = pipeline
        guard let paintable = eidetic_paintable_new() else { preconditionFailure("GObject makes objects") }
        self.paintable = ObjectReference(adopting: paintable)
    }

    /// Whether something can be seen.
    var hasPicture: Bool { image != nil }

    /// Begins a load at once, in the place of the earlier one.
    func begin(_ body: () -> Void) {
        turn += 1
        cancelWaiting()
        body()
    }

    /// Begins a load when the widget has a size, in the place of the earlier one.
    func wait(begin: @escaping @MainActor () -> Void, cancel: @escaping @MainActor () -> Void) {
        turn += 1
        let mine = turn
        cancelWaiting()
        guard turn == mine else { return cancel() }
        waiting = Waiting(begin: begin, cancel: cancel)
        state?.restartTick()
    }

    /// Whether a load waits for the widget's size.
    var isWaiting: Bool { waiting != nil }

    /// Ends the load; what is shown stays.
    func cancel() {
        cancelWaiting()
        slot.cancel()
    }

    /// The widget is gone: ends the load and the transition.
    func end() {
        cancelWaiting()
        player = nil
        finishFade()
        slot.cancel()
    }

    private func cancelWaiting() {
        let cancelled = waiting
        waiting = nil
        cancelled?.cancel()
    }
}

// MARK: What is drawn
extension WidgetSlot {
    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        MainThreadWatch.measure {
            finishFade()
            self.image = image
            player = nil
            textures = [:]
            let texture = image.map { Textures.texture(of: $0.pixels) }
            if let transition, transition.duration > .zero, let state, state.allowsMotion, state.isMapped {
                eidetic_paintable_begin_fade(paintable.raw, texture?.raw, scale, covers ? 1 : 0)
                fade = Fade(duration: transition.duration, completion: completion)
            } else {
                eidetic_paintable_show(paintable.raw, texture?.raw, scale)
            }
            play()
            state?.showPart()
        }
        if fade == nil { completion() }
    }

    func displayIndicator(_ indicator: ImageIndicator?) {
        self.indicator = indicator
        drawIndicator()
        state?.restartTick()
    }

    /// Pixels of the picture for one of the toolkit's.
    private var scale: Double { (image?.scale ?? 1) * Double(state?.scaleFactor ?? 1) }

    private var covers: Bool { state?.contentMode == .fill }

    private func drawIndicator() {
        switch indicator {
        case nil: eidetic_paintable_set_indicator(paintable.raw, EIDETIC_INDICATOR_NONE, 0)
        case .spinner: eidetic_paintable_set_indicator(paintable.raw, EIDETIC_INDICATOR_SPINNER, turnOfSpinner)
        case .progress(nil): eidetic_paintable_set_indicator(paintable.raw, EIDETIC_INDICATOR_SPINNER, turnOfSpinner)
        case .progress(let part?): eidetic_paintable_set_indicator(paintable.raw, EIDETIC_INDICATOR_RING, part)
        }
    }

    private var turns: Bool { indicator == .spinner || indicator == .progress(nil) }
}

// MARK: Movement
extension WidgetSlot {
    /// Whether something is to change with the next frame.
    var needsTick: Bool {
        waiting != nil || fade != nil
            || (state?.allowsMotion == true && (turns || player.map { !$0.isOver && rules.speed > 0 } ?? false))
    }

    func advance(by time: Duration) {
        advanceWaiting()
        advanceFade(time)
        guard state?.allowsMotion == true else { return }
        advancePlayer(time)
        if turns {
            turnOfSpinner = (turnOfSpinner + time / .seconds(1)).truncatingRemainder(dividingBy: 1)
            drawIndicator()
        }
    }

    /// The widget is no longer seen: transitions are over, the rest stands still, and the load is not urgent.
    func rest() {
        finishFade()
        slot.load?.priority = .low
    }

    /// The widget is seen again.
    func wake() {
        guard let load = slot.load else { return }
        load.priority = load.request.priority
    }

    func motionChanged() {
        finishFade()
        play()
    }

    /// Plays the picture from its beginning where it is animated and may move.
    private func play() {
        player = image.flatMap { image in
            FramePlayer(durations: image.frames.map(\.duration), loops: rules.loopCount(image.loopCount))
        }
        if fade == nil { showFrame() }
        state?.restartTick()
    }

    private func advancePlayer(_ time: Duration) {
        guard fade == nil, rules.speed > 0, player?.advance(by: time * rules.speed) == true else { return }
        showFrame()
    }

    private func showFrame() {
        guard let image, image.isAnimated, let player else { return }
        let texture = textures[player.index] ?? Textures.texture(of: image.frames[player.index].pixels)
        textures[player.index] = texture
        eidetic_paintable_show(paintable.raw, texture.raw, scale)
    }

    private func advanceFade(_ time: Duration) {
        guard fade != nil else { return }
        fade?.passed += time
        guard let fade, fade.passed < fade.duration else { return finishFade() }
        // Slow at both ends.
        let part = fade.passed / fade.duration
        eidetic_paintable_set_fade(paintable.raw, part * part * (3 - 2 * part))
    }

    private func finishFade() {
        let finished = fade
        fade = nil
        guard let finished else { return }
        eidetic_paintable_set_fade(paintable.raw, 1)
        finished.completion()
    }

    /// A widget that is seen has its size with the second frame, or will have none before it shows something.
    private func advanceWaiting() {
        guard waiting != nil, let state else { return }
        waiting?.frames += 1
        guard state.knownSize != nil || waiting?.frames ?? 0 > 2 else { return }
        let begun = waiting
        waiting = nil
        begun?.begin()
    }
}

extension Duration {
    fileprivate static func * (duration: Duration, factor: Double) -> Duration {
        .nanoseconds(Int64((duration / .nanoseconds(1) * factor).rounded()))
    }
}
#endif
