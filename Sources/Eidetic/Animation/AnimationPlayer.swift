public import EideticCore
import Synchronization

/// The playback of an animation in one view.
///
/// The view calls ``advance(to:)`` with the time, as often as it draws or when ``timeToNextFrame`` has passed, and
/// draws ``pixels`` when they have changed. Widgets and slots of this package do so by themselves.
///
/// Time goes on whether or not a frame is decoded: a frame that comes too late is left out. While the frames of a
/// download are missing, time stands still.
@MainActor
public final class AnimationPlayer {
    /// The animation.
    public let animation: AnimatedImage

    /// The speed, the loops and the order; a change of loops or order keeps the current frame.
    public var playback: AnimationPlayback {
        didSet { if playback.loops != oldValue.loops || playback.order != oldValue.order { resetTimeline() } }
    }

    /// A Boolean value indicating whether the playback is paused; false by default.
    public var isPaused = false { didSet { if isPaused != oldValue { lastTime = nil } } }

    /// The index of the frame that is shown.
    public private(set) var frameIndex = 0

    /// The frame that is shown.
    public private(set) var pixels: PixelBuffer

    private var timeline: PlaybackTimeline
    private var lastTime: Duration?
    private let viewer = Viewer()
    private var wanted: [Int] = []
    /// The place whose next frames were requested; `nil` if none were.
    private var requestedPlace: PlaybackTimeline.Place?
    /// Called on the main actor when a frame has been decoded or received that was late.
    package var frameArrived: (@MainActor () -> Void)?

    private final class Viewer: Sendable { let isWaiting = Atomic(false) }

    /// Creates a player at the first frame.
    public init(_ animation: AnimatedImage, playback: AnimationPlayback = AnimationPlayback()) {
        (self.animation, self.playback, pixels) = (animation, playback, animation.poster)
        timeline = Self.makeTimeline(of: animation, playback: playback)
    }

    deinit { animation.removeViewer(viewer) }

    /// A Boolean value indicating whether the last frame of the last loop is shown.
    public var isFinished: Bool { timeline.isFinished && frameIndex == timeline.frameIndex }

    /// The time until the next frame, at the present speed; `nil` if none follows, or frames are missing.
    public var timeToNextFrame: Duration? {
        guard !isPaused, playback.speed > 0, let time = timeline.timeToNextFrame else { return nil }
        return time / playback.speed
    }

    /// A Boolean value indicating whether the next frame of a download has not been received.
    package var isStalled: Bool {
        guard timeline.isStalled else { return false }
        let info = animation.info
        return !info.isComplete && info.frameCount <= timeline.frameCount
    }

    /// A Boolean value indicating whether later calls of ``advance(to:)`` can change the frame.
    public var isPlaying: Bool { !isPaused && playback.speed > 0 && !isFinished }
}

// MARK: Time
extension AnimationPlayer {
    /// Advances to a time, and selects the frame that is shown then.
    ///
    /// - Parameter time: The time on a clock that does not decrease, such as that of the display. The first call, and
    ///   the first one after ``suspend()``, only starts the clock.
    /// - Returns: `true` if ``pixels`` have changed; otherwise, `false`.
    public func advance(to time: Duration) -> Bool {
        let elapsed = lastTime.map { max(.zero, time - $0) } ?? .zero
        lastTime = time
        // No time has passed for the frames that were missing meanwhile.
        let wasStalled = timeline.isStalled
        refreshTimeline()
        if !wasStalled, !isPaused, playback.speed > 0 { timeline.advance(by: elapsed * playback.speed) }
        let hasChanged = showCurrentFrame()
        guard timeline.isStalled else { return hasChanged }
        return showFrameIfArrived() || hasChanged
    }

    /// Stops the clock and all decoding in advance, because nobody sees the view; ``advance(to:)`` starts them again.
    public func suspend() {
        lastTime = nil
        (wanted, requestedPlace) = ([], nil)
        animation.removeViewer(viewer)
    }

    /// Moves to a frame, which is shown as soon as it is decoded.
    ///
    /// - Parameter index: The index of the frame; beyond the frames that are there, the last one.
    public func seek(toFrame index: Int) {
        timeline.seek(toFrame: index)
        lastTime = nil
        _ = showCurrentFrame()
    }

    /// Moves to a time of the present loop, at the speed of the encoded image.
    public func seek(toTime time: Duration) {
        timeline.seek(toTime: time)
        lastTime = nil
        _ = showCurrentFrame()
    }

    /// Pauses the playback.
    public func pause() { isPaused = true }

    /// Continues the playback.
    public func resume() { isPaused = false }
}

// MARK: Frames
extension AnimationPlayer {
    private static func makeTimeline(of animation: AnimatedImage, playback: AnimationPlayback) -> PlaybackTimeline {
        let info = animation.info
        return PlaybackTimeline(
            durations: info.durations,
            encodedLoopCount: info.loopCount,
            isComplete: info.isComplete,
            playback: playback
        )
    }

    private func resetTimeline() {
        let index = timeline.frameIndex
        timeline = Self.makeTimeline(of: animation, playback: playback)
        requestedPlace = nil
        timeline.seek(toFrame: index)
    }

    private func refreshTimeline() {
        guard !timeline.isComplete || animation.failure != nil else { return }
        let info = animation.info
        timeline.update(durations: info.durations, encodedLoopCount: info.loopCount, isComplete: info.isComplete)
    }

    /// Shows the current frame or, if it is not decoded, the latest one before it that is.
    private func showCurrentFrame() -> Bool {
        let target = timeline.frameIndex
        requestFrames()
        if target == frameIndex { return false }
        if let decoded = animation.decodedFrame(at: target) { return show(decoded, at: target) }
        viewer.isWaiting.store(true, ordering: .releasing)
        // It may have arrived before it was waited for.
        if let decoded = animation.decodedFrame(at: target) { return show(decoded, at: target) }
        for index in timeline.previousFrames(animation.windowCapacity) {
            if index == frameIndex { return false }
            if let late = animation.decodedFrame(at: index) { return show(late, at: index) }
        }
        return false
    }

    /// Waits for more frames of a download, and shows the next one if it has arrived before it was waited for.
    private func showFrameIfArrived() -> Bool {
        viewer.isWaiting.store(true, ordering: .releasing)
        refreshTimeline()
        return !timeline.isStalled && showCurrentFrame()
    }

    private func show(_ decoded: PixelBuffer, at index: Int) -> Bool {
        (pixels, frameIndex) = (decoded, index)
        return true
    }

    /// The number of frames that are decoded in advance: all, if the window has room for them; otherwise, so many that
    /// a burst of other work delays none.
    private var lookahead: Int {
        let capacity = animation.windowCapacity
        return animation.frameCount <= capacity ? capacity : min(capacity, 16)
    }

    /// Requests the next frames from the animation.
    private func requestFrames() {
        guard requestedPlace != timeline.place else { return }
        requestedPlace = timeline.place
        let frames = timeline.upcomingFrames(lookahead)
        guard frames != wanted else { return }
        wanted = frames
        animation.show(frames, in: viewer) { [weak self, viewer] in
            guard viewer.isWaiting.exchange(false, ordering: .acquiring) else { return }
            Task { @MainActor in self?.frameArrived?() }
        }
    }
}

extension Duration {
    fileprivate static func * (duration: Duration, factor: Double) -> Duration {
        .nanoseconds(Int64((duration / .nanoseconds(1) * factor).rounded()))
    }
}
