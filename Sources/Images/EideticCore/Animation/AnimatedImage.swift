/// An animation whose frames are decoded on demand, and shared by all views that show it.
///
/// It keeps the encoded bytes and a window of decoded frames, limited in bytes, which are shown next. An animation that
/// fits into the window is decoded once; the frames of a longer one are decoded again in each loop. While it is being
/// downloaded, the frames that have arrived are available.
///
/// ```swift
/// if let animation = response.image.animation {
///     let third = try await animation.frame(at: 2)
/// }
/// ```
///
/// Frames are decoded one at a time, on decoding threads. A corrupt frame ends the animation before it. Temporary
/// errors, such as a time limit or a lack of memory, are thrown to waiting callers; views try again later.
public final class AnimatedImage: Sendable {
    /// A function that runs an operation on a thread that may block.
    package typealias Schedule =
        @Sendable (_ context: JobContext, _ operation: @escaping @Sendable () -> Void) -> Void

    /// The limit of the window of each animation: 8 MiB.
    package static let standardWindow = ByteCount.mebibytes(8)

    /// The first frame.
    public let poster: PixelBuffer

    /// The end of a line of a trace, about the process that decodes the frames.
    package let note: String

    let source: (any FrameSource)?
    let schedule: Schedule
    let time: any TimeSource
    let state: Guarded<State>

    /// Creates an animation from its source and its first frame.
    ///
    /// - Parameters:
    ///   - source: Decodes the frames; it belongs to the animation from now on.
    ///   - poster: The first frame, as `source` has decoded it.
    ///   - window: The limit of decoded frames in bytes.
    ///   - note: The end of a line of a trace, about the process that decodes the frames.
    ///   - time: Measures the pause after an error that may pass.
    ///   - schedule: Runs the source.
    package init(
        source: any FrameSource,
        poster: PixelBuffer,
        window: ByteCount = AnimatedImage.standardWindow,
        note: String = "",
        time: any TimeSource = SystemTime(),
        schedule: @escaping Schedule
    ) {
        self.source = source
        self.poster = poster
        self.schedule = schedule
        self.note = note
        self.time = time
        var frames = FrameWindow(limit: window.bytes)
        frames.insert(poster, at: 0, wanted: [])
        state = Guarded(State(info: source.info, window: frames, sourceByteLimit: source.retainedByteLimit))
    }

    /// Creates an animation of which all frames are decoded.
    init(frames: [Image.Frame], attributes: Image.Attributes) {
        source = nil
        poster = frames[0].pixels
        schedule = { _, _ in }
        note = ""
        time = SystemTime()
        var window = FrameWindow(limit: .max)
        for (index, frame) in frames.enumerated() { window.insert(frame.pixels, at: index, wanted: []) }
        let info = AnimationInfo(
            format: attributes.format,
            size: frames[0].pixels.size,
            sourceSize: attributes.sourceSize,
            durations: frames.map(\.duration),
            loopCount: attributes.loopCount,
            isComplete: true
        )
        state = Guarded(State(info: info, window: window, sourceByteLimit: 0))
    }
}

// MARK: Properties
extension AnimatedImage {
    /// The size of each frame in pixels.
    public var size: PixelSize { poster.size }

    /// The number of frames that have arrived; it grows while ``isComplete`` is false.
    public var frameCount: Int { state.withLock { $0.info.frameCount } }

    /// A Boolean value indicating whether all frames have arrived.
    public var isComplete: Bool { state.withLock { $0.info.isComplete } }

    /// The display time of each frame; durations below 11 ms are played as 100 ms, as in browsers.
    public var durations: [Duration] { state.withLock { $0.info.durations } }

    /// The number of times that the animation plays; `nil` means forever.
    public var loopCount: Int? { state.withLock { $0.info.loopCount } }

    /// The error that ended the animation before its last frame; `nil` if there is none.
    public var failure: EideticError? { state.withLock { $0.failure } }

    /// The decoded frames that are kept now.
    package var decodedByteCount: ByteCount { state.withLock { ByteCount($0.window.byteCount) } }

    /// The most memory that the animation occupies with the bytes so far: its window, the encoded bytes, and what
    /// composing its frames needs.
    ///
    /// The frames that views show are theirs.
    package var cost: ByteCount {
        state.withLock { state in
            guard source != nil else { return ByteCount(state.window.byteCount) }
            let frame = frameByteCount
            let limit = max(state.window.limit, FrameWindow.minimumCount * frame)
            let all = state.info.isComplete ? frame * state.info.frameCount : limit
            let received = state.arrivedBytes.count + state.parsedByteCount
            return ByteCount(min(all, limit) + state.sourceByteLimit + received)
        }
    }

    /// The number of frames that were decoded so far, repetitions included.
    package var decodedFrameCount: Int { state.withLock { $0.decodedFrameCount } }

    package var windowCapacity: Int { state.withLock { $0.window.capacity(frameByteCount: frameByteCount) } }

    /// A Boolean value indicating whether all frames have arrived, and stay in the window.
    package var isFullyDecoded: Bool {
        state.withLock { $0.info.isComplete && $0.window.frames.count >= $0.info.frameCount }
    }

    /// The properties so far.
    package var info: AnimationInfo { state.withLock { $0.info } }

    var frameByteCount: Int { 4 * poster.size.pixelCount }
}

// MARK: Frames
extension AnimatedImage {
    /// Returns a frame, decoded if it is not in the window; waits for its bytes if they have not arrived.
    ///
    /// The next frame costs one decode. An earlier frame may require decoding all frames from the last independent one.
    ///
    /// - Parameter index: The index of the frame, from 0.
    /// - Returns: The frame.
    /// - Throws: `invalidArgument` if there is no such frame; the error of its decode, or the one that has ended the
    ///   animation before it; `cancelled`.
    nonisolated(nonsending) public func frame(at index: Int) async throws(EideticError) -> PixelBuffer {
        let waiter = Waiter<Result<PixelBuffer, EideticError>>()
        let outcome = state.withLock { state -> Result<PixelBuffer, EideticError>? in
            if let known = state.knownResult(for: index) { return known }
            state.requests.append(Request(index: index, waiter: waiter))
            return nil
        }
        if let outcome { return try outcome.get() }
        startWork()
        let result = await waiter.value(ifCancelled: .failure(.cancelled))
        state.withLock { $0.requests.removeAll { $0.waiter === waiter } }
        return try result.get()
    }

    /// Returns a frame if it is in the window now; otherwise, `nil`.
    package func decodedFrame(at index: Int) -> PixelBuffer? { state.withLock { $0.window.frames[index] } }
}

// MARK: Viewers
extension AnimatedImage {
    /// Records the frames that a viewer shows next; they are decoded in this order, as far as the window has room.
    ///
    /// - Parameters:
    ///   - demand: The frames.
    ///   - viewer: The viewer, until ``removeViewer(_:)``; it is not retained.
    ///   - frameArrived: Called on a decoding thread when a frame that the viewer waits for was decoded, and when
    ///     frames were received.
    package func show(_ demand: FrameDemand, in viewer: AnyObject, frameArrived: @escaping @Sendable () -> Void) {
        state.withLock { state in
            var entry = Viewer(demand: demand, frameArrived: frameArrived)
            if let due = demand.frames.first, let pixels = state.window.frames[due] {
                entry.receive(pixels, at: due, count: state.info.frameCount)
            }
            state.viewers[ObjectIdentifier(viewer)] = entry
        }
        startWork()
    }

    /// Returns the frame that was decoded for a viewer since it called ``show(_:in:frameArrived:)``.
    package func arrivedFrame(for viewer: AnyObject) -> (index: Int, pixels: PixelBuffer)? {
        state.withLock { $0.viewers[ObjectIdentifier(viewer)]?.arrivedFrame }
    }

    /// Removes a viewer; without viewers nothing is decoded in advance.
    package func removeViewer(_ viewer: AnyObject) {
        state.withLock { _ = $0.viewers.removeValue(forKey: ObjectIdentifier(viewer)) }
    }

    package var viewerCount: Int { state.withLock { $0.viewers.count } }
}

// MARK: Bytes
extension AnimatedImage {
    /// Adds bytes that have arrived.
    ///
    /// They are parsed before the next frame is decoded, on a decoding thread.
    package func append(_ bytes: [UInt8], isComplete: Bool) {
        state.withLock { state in
            guard !state.isFileComplete else { return }
            state.arrivedBytes += bytes
            state.hasNewBytes = true
            state.isFileComplete = isComplete
        }
        startWork()
    }

    /// Ends the animation after the frames that have arrived, because its download has failed.
    ///
    /// Bytes that were added are parsed before.
    package func end(after error: EideticError) {
        let finished = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isFileComplete else { return nil }
            state.isFileComplete = true
            state.downloadFailure = error
            return state.isParsing || state.hasNewBytes ? nil : state.endAfterDownload()
        }
        finished?()
    }
}
