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
    public var playback: AnimationPlayback { didSet { playbackChanged(from: oldValue) } }

    /// A Boolean value indicating whether the playback is paused; false by default.
    public var isPaused = false {
        didSet {
            guard isPaused != oldValue else { return }
            restartClock()
            changed?()
        }
    }

    /// The index of the frame that is shown.
    public private(set) var frameIndex = 0

    /// The frame that is shown.
    public private(set) var pixels: PixelBuffer

    private var timeline: PlaybackTimeline
    private var lastTime: Duration?
    private let viewer = Viewer()
    private var demand: FrameDemand?
    /// The place whose next frames were requested; `nil` if none were.
    private var requestedPlace: PlaybackTimeline.Place?
    private var isSuspended = false
    /// Called on the main actor when a frame has been decoded or received that was late.
    package var frameArrived: (@MainActor () -> Void)?
    /// Called when a seek, a pause or another playback has changed what is shown now or next, for the view to draw
    /// ``pixels`` and to call ``advance(to:)`` again.
    package var changed: (@MainActor () -> Void)?

    private final class Viewer: Sendable { let isWaiting = Atomic(false) }

    /// Creates a player at the first frame.
    public init(_ animation: AnimatedImage, playback: AnimationPlayback = AnimationPlayback()) {
        self.animation = animation
        self.playback = playback
        pixels = animation.poster
        timeline = Self.makeTimeline(of: animation, playback: playback)
    }

    deinit { animation.removeViewer(viewer) }

    /// A Boolean value indicating whether the last frame of the last loop is shown.
    public var isFinished: Bool { timeline.isFinished && frameIndex == timeline.frameIndex }

    /// The time until the next frame, at the present speed; `nil` if none follows, or frames are missing.
    public var timeToNextFrame: Duration? {
        guard isMoving, let time = timeline.timeToNextFrame else { return nil }
        return time / playback.limitedSpeed
    }

    private var isMoving: Bool { !isPaused && playback.limitedSpeed > 0 }

    /// A Boolean value indicating whether the next frame of a download has not been received.
    package var isStalled: Bool {
        guard timeline.isStalled else { return false }
        let info = animation.info
        return !info.isComplete && info.frameCount <= timeline.frameCount
    }

    /// A Boolean value indicating whether later calls of ``advance(to:)`` can change the frame.
    public var isPlaying: Bool { isMoving && !isFinished && timeline.canPlay }
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
        isSuspended = false
        // No time has passed for the frames that were missing meanwhile.
        let wasStalled = timeline.isStalled
        refreshTimeline()
        if !wasStalled, isMoving { timeline.advance(by: elapsed * playback.limitedSpeed) }
        let hasChanged = showCurrentFrame()
        guard timeline.isStalled else { return hasChanged }
        return showFrameIfArrived() || hasChanged
    }

    /// Stops the clock and all decoding in advance, because nobody sees the view; ``advance(to:)`` starts them again.
    public func suspend() {
        isSuspended = true
        restartClock()
        demand = nil
        animation.removeViewer(viewer)
    }

    /// Moves to a frame, which is shown as soon as it is decoded.
    ///
    /// - Parameter index: The index of the frame; beyond the frames that are there, the last one.
    public func seek(toFrame index: Int) { seek { $0.seek(toFrame: index) } }

    /// Moves to a time of the present loop, at the speed of the encoded image.
    public func seek(toTime time: Duration) { seek { $0.seek(toTime: time) } }

    private func seek(_ move: (inout PlaybackTimeline) -> Void) {
        move(&timeline)
        restartClock()
        _ = showCurrentFrame()
        changed?()
    }

    /// Lets no time pass until the next call of ``advance(to:)``, and requests frames anew.
    private func restartClock() { (lastTime, requestedPlace) = (nil, nil) }

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

    private func playbackChanged(from earlier: AnimationPlayback) {
        guard playback != earlier else { return }
        // The time of a pause, and after the end, does not count.
        if earlier.limitedSpeed == 0 || playback.limitedSpeed == 0 || timeline.isFinished { restartClock() }
        if playback.loops != earlier.loops || playback.order != earlier.order { resetTimeline() }
        changed?()
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

    /// Shows the current frame or, if it is not decoded, the latest one before it that is; requests the next ones.
    private func showCurrentFrame() -> Bool {
        let hasChanged = showDecodedFrame()
        let isLate = frameIndex != timeline.frameIndex
        if isLate { viewer.isWaiting.store(true, ordering: .releasing) }
        requestFrames()
        // It may have arrived before it was waited for.
        return isLate && showDecodedFrame() || hasChanged
    }

    private func showDecodedFrame() -> Bool {
        let target = timeline.frameIndex
        if target == frameIndex { return false }
        let arrived = animation.arrivedFrame(for: viewer)
        func decodedFrame(at index: Int) -> PixelBuffer? {
            arrived?.index == index ? arrived?.pixels : animation.decodedFrame(at: index)
        }
        if let decoded = decodedFrame(at: target) { return show(decoded, at: target) }
        for index in timeline.previousFrames(animation.windowCapacity) {
            if index == frameIndex { return false }
            if isNear(index), let late = decodedFrame(at: index) { return show(late, at: index) }
        }
        guard let arrived, makeDemand([target]).isLate(for: arrived.index, count: timeline.frameCount) else {
            return false
        }
        return show(arrived.pixels, at: arrived.index)
    }

    /// Returns `false` for a frame of an earlier loop, far from that of a late view, which would then wait for those
    /// between.
    private func isNear(_ index: Int) -> Bool {
        let count = max(1, timeline.frameCount)
        return playback.order != .forward || (index - frameIndex + count) % count <= lookahead
    }

    /// Waits for more frames of a download, and shows the next one if it has arrived before it was waited for.
    private func showFrameIfArrived() -> Bool {
        viewer.isWaiting.store(true, ordering: .releasing)
        refreshTimeline()
        return !timeline.isStalled && showCurrentFrame()
    }

    private func show(_ decoded: PixelBuffer, at index: Int) -> Bool {
        pixels = decoded
        frameIndex = index
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
        guard !isSuspended, requestedPlace != timeline.place else { return }
        requestedPlace = timeline.place
        // Nothing is missing, and nothing will be.
        guard !animation.isFullyDecoded else { return }
        let next = makeDemand(timeline.upcomingFrames(isMoving ? lookahead : 1))
        guard next != demand else { return }
        demand = next
        animation.show(next, in: viewer) { [weak self, viewer] in
            guard viewer.isWaiting.exchange(false, ordering: .acquiring) else { return }
            Task { @MainActor in self?.wake() }
        }
    }

    private func makeDemand(_ frames: [Int]) -> FrameDemand {
        FrameDemand(
            frames: frames,
            isFirstShown: frames.first == frameIndex,
            shownIndex: playback.order == .forward ? frameIndex : nil
        )
    }

    private func wake() {
        if !isSuspended { frameArrived?() }
    }
}

extension Duration {
    /// Returns the product, at most 100 years, which no addition to a time exceeds.
    fileprivate static func * (duration: Duration, factor: Double) -> Duration {
        .nanoseconds(Int64(min((duration / .nanoseconds(1) * factor).rounded(), 3e18)))
    }
}
