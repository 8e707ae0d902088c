/// An animation whose frames are decoded when they are needed, and shared by all who show it.
///
/// It keeps the encoded bytes and a window of decoded frames, bounded in bytes: those that are shown next. An animation
/// that fits into the window as a whole is decoded once; of a longer one each frame is decoded again when it comes
/// round. One that is still being downloaded has the frames that have arrived.
///
/// ```swift
/// if let animation = response.image.animation {
///     let third = try await animation.frame(at: 2)
/// }
/// ```
///
/// Frames are decoded one at a time, on decoding threads. A frame that cannot be decoded ends the animation before it.
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

    private let source: (any FrameSource)?
    private let schedule: Schedule
    private let state: Guarded<State>

    private struct Viewer {
        var wanted: [Int]
        let frameArrived: @Sendable () -> Void
    }

    private struct Request {
        let index: Int
        let waiter: Waiter<Result<PixelBuffer, EideticError>>
    }

    private struct State {
        var info: AnimationInfo
        var window: FrameWindow
        var viewers: [ObjectIdentifier: Viewer] = [:]
        var requests: [Request] = []
        var arrivedBytes: [UInt8] = []
        var hasNewBytes = false
        var isFileComplete: Bool
        var isWorking = false
        var failure: EideticError?
        var decodedFrameCount = 0
        var retainedByteCount: Int
    }

    /// Creates an animation from its source and its first frame.
    ///
    /// - Parameters:
    ///   - source: Decodes the frames; it belongs to the animation from now on.
    ///   - poster: The first frame, as `source` has decoded it.
    ///   - window: The limit of decoded frames in bytes.
    ///   - note: The end of a line of a trace, about the process that decodes the frames.
    ///   - schedule: Runs the source.
    package init(
        source: any FrameSource,
        poster: PixelBuffer,
        window: ByteCount = AnimatedImage.standardWindow,
        note: String = "",
        schedule: @escaping Schedule
    ) {
        (self.source, self.poster, self.schedule, self.note) = (source, poster, schedule, note)
        var frames = FrameWindow(limit: window.bytes)
        frames.insert(poster, at: 0, wanted: [])
        let info = source.info
        state = Guarded(
            State(
                info: info,
                window: frames,
                isFileComplete: info.isComplete,
                retainedByteCount: source.retainedByteCount
            )
        )
    }

    /// Creates an animation of which all frames are decoded.
    init(frames: [Image.Frame], attributes: Image.Attributes) {
        (source, poster, note, schedule) = (nil, frames[0].pixels, "", { _, _ in })
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
        state = Guarded(State(info: info, window: window, isFileComplete: true, retainedByteCount: 0))
    }
}

// MARK: Properties
extension AnimatedImage {
    /// The size of each frame in pixels.
    public var size: PixelSize { poster.size }

    /// The number of frames that can be decoded; it grows while ``isComplete`` is false.
    public var frameCount: Int { state.withLock { $0.info.frameCount } }

    /// A Boolean value indicating whether all frames have arrived.
    public var isComplete: Bool { state.withLock { $0.info.isComplete } }

    /// The time for which each frame is shown; durations below 11 ms are played as 100 ms, as in browsers.
    public var durations: [Duration] { state.withLock { $0.info.durations } }

    /// The number of times that the animation plays; `nil` means forever.
    public var loopCount: Int? { state.withLock { $0.info.loopCount } }

    /// The error that has ended the animation before its last frame; `nil` if there was none.
    public var failure: EideticError? { state.withLock { $0.failure } }

    /// The decoded frames that are kept now.
    public var decodedByteCount: ByteCount { state.withLock { ByteCount($0.window.byteCount) } }

    /// The memory that the animation may occupy: its window, the encoded bytes, and what composing its frames needs.
    public var cost: ByteCount {
        state.withLock { state in
            let frame = 4 * poster.size.pixelCount
            guard source != nil else { return ByteCount(state.window.byteCount) }
            let limit = max(state.window.limit, FrameWindow.minimumCount * frame)
            let all = state.info.isComplete ? frame * state.info.frameCount : limit
            return ByteCount(min(all, limit) + state.retainedByteCount)
        }
    }

    /// The number of frames that were decoded so far, repetitions included.
    package var decodedFrameCount: Int { state.withLock { $0.decodedFrameCount } }

    /// The number of frames that fit into the window.
    package var windowCapacity: Int {
        state.withLock { $0.window.capacity(frameByteCount: 4 * poster.size.pixelCount) }
    }

    /// The properties so far.
    package var info: AnimationInfo { state.withLock { $0.info } }
}

// MARK: Frames
extension AnimatedImage {
    /// Returns a frame, decoded if it is not in the window; waits for its bytes if they have not arrived.
    ///
    /// The next frame costs one frame. One that lies before may cost those since the last one that stands alone.
    ///
    /// - Parameter index: The index of the frame, from 0.
    /// - Returns: The frame.
    /// - Throws: `invalidArgument` if there is no such frame; the error that has ended the animation before it;
    ///   `cancelled`.
    public func frame(at index: Int) async throws(EideticError) -> PixelBuffer {
        let waiter = Waiter<Result<PixelBuffer, EideticError>>()
        let outcome = state.withLock { state -> Result<PixelBuffer, EideticError>? in
            if let known = knownResult(for: index, in: state) { return known }
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

    /// Returns what a request for a frame ends with; `nil` if the frame must be decoded, or has not arrived.
    private func knownResult(for index: Int, in state: State) -> Result<PixelBuffer, EideticError>? {
        if let pixels = state.window.frames[index] { return .success(pixels) }
        guard index < 0 || (index >= state.info.frameCount && state.info.isComplete) else { return nil }
        let count = state.info.frameCount
        return .failure(
            state.failure
                ?? EideticError(.invalidArgument, message: "there is no frame \(index); the animation has \(count)")
        )
    }
}

// MARK: Viewers
extension AnimatedImage {
    /// Records the frames that a viewer shows next; they are decoded in this order, as far as the window has room.
    ///
    /// - Parameters:
    ///   - indices: The frames, the one on the screen first.
    ///   - viewer: The viewer, until ``removeViewer(_:)``; it is not retained.
    ///   - frameArrived: Called after each decoded frame, and when frames were received, on a decoding thread.
    package func show(_ indices: [Int], in viewer: AnyObject, frameArrived: @escaping @Sendable () -> Void) {
        state.withLock { $0.viewers[ObjectIdentifier(viewer)] = Viewer(wanted: indices, frameArrived: frameArrived) }
        startWork()
    }

    /// Removes a viewer; without viewers nothing is decoded in advance.
    package func removeViewer(_ viewer: AnyObject) {
        state.withLock { _ = $0.viewers.removeValue(forKey: ObjectIdentifier(viewer)) }
    }

    /// The number of viewers.
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
            (state.hasNewBytes, state.isFileComplete) = (true, isComplete)
        }
        startWork()
    }

    /// Ends the animation after the frames that have arrived, because its download has failed.
    package func end(after error: EideticError) {
        let (requests, viewers) = state.withLock { state -> ([Request], [Viewer]) in
            guard !state.info.isComplete else { return ([], []) }
            (state.isFileComplete, state.info.isComplete) = (true, true)
            state.failure = state.failure ?? error
            defer { state.requests.removeAll { $0.index >= state.info.frameCount } }
            return (state.requests.filter { $0.index >= state.info.frameCount }, Array(state.viewers.values))
        }
        for request in requests { request.waiter.resume(returning: .failure(error)) }
        for viewer in viewers { viewer.frameArrived() }
    }
}

// MARK: Decoding
extension AnimatedImage {
    private enum Work {
        case append([UInt8], isComplete: Bool)
        case decode(Int, isUrgent: Bool)
    }

    /// Starts the next piece of work, unless one runs already.
    private func startWork() {
        guard let source else { return }
        let work = state.withLock { state -> Work? in
            guard !state.isWorking, let work = nextWork(&state) else { return nil }
            state.isWorking = true
            return work
        }
        if let work { start(work, with: source) }
    }

    private func start(_ work: Work, with source: any FrameSource) {
        var context = JobContext()
        // A frame that is due comes with the images of views, one in advance after them.
        if case .decode(_, isUrgent: false) = work { context = JobContext(priority: .low) }
        schedule(context) { [weak self] in self?.perform(work, with: source) }
    }

    private func nextWork(_ state: inout State) -> Work? {
        if state.hasNewBytes {
            defer { (state.arrivedBytes, state.hasNewBytes) = ([], false) }
            return .append(state.arrivedBytes, isComplete: state.isFileComplete)
        }
        if let index = state.requests.first(where: { $0.index < state.info.frameCount })?.index {
            return .decode(index, isUrgent: true)
        }
        let wanted = state.viewers.values.map(\.wanted)
        let bytes = 4 * poster.size.pixelCount
        return state.window.next(wanted: wanted, count: state.info.frameCount, frameByteCount: bytes)
            .map { .decode($0.index, isUrgent: $0.rank < 2) }
    }

    private func perform(_ work: Work, with source: any FrameSource) {
        let finished: () -> Void
        switch work {
        case .append(let bytes, let isComplete): finished = append(bytes, isComplete: isComplete, to: source)
        case .decode(let index, _): finished = decode(index, with: source)
        }
        let next = state.withLock { state -> Work? in
            let next = nextWork(&state)
            state.isWorking = next != nil
            return next
        }
        finished()
        if let next { start(next, with: source) }
    }

    /// Appends bytes; returns a function that tells the viewers.
    private func append(_ bytes: [UInt8], isComplete: Bool, to source: any FrameSource) -> () -> Void {
        do throws(EideticError) {
            let info = try source.append(bytes, isComplete: isComplete)
            return record(info, retained: source.retainedByteCount, failure: nil)
        } catch {
            var info = info
            info.isComplete = true
            return record(info, retained: source.retainedByteCount, failure: error)
        }
    }

    /// Decodes a frame into the window; returns a function that tells those who wait for it.
    private func decode(_ index: Int, with source: any FrameSource) -> () -> Void {
        do throws(EideticError) {
            let pixels = try source.frame(at: index, context: JobContext())
            let retained = source.retainedByteCount
            let (requests, viewers) = state.withLock { state -> ([Request], [Viewer]) in
                state.window.insert(pixels, at: index, wanted: state.viewers.values.map(\.wanted))
                state.decodedFrameCount += 1
                state.retainedByteCount = retained
                let requests = state.requests.filter { $0.index == index }
                state.requests.removeAll { $0.index == index }
                return (requests, Array(state.viewers.values))
            }
            return {
                for request in requests { request.waiter.resume(returning: .success(pixels)) }
                for viewer in viewers { viewer.frameArrived() }
            }
        } catch {
            var info = info
            info.durations = Array(info.durations.prefix(index))
            info.isComplete = true
            return record(info, retained: source.retainedByteCount, failure: error)
        }
    }

    /// Records new properties; returns a function that ends requests for frames that will not come.
    private func record(_ info: AnimationInfo, retained: Int, failure: EideticError?) -> () -> Void {
        let (results, viewers) = state.withLock { state -> ([(Request, Result<PixelBuffer, EideticError>)], [Viewer]) in
            let previous = (state.info.frameCount, state.info.isComplete)
            if state.failure == nil { state.info = info }
            if let failure, state.failure == nil {
                state.failure = failure
                state.isFileComplete = true
                (state.arrivedBytes, state.hasNewBytes) = ([], false)
            }
            state.retainedByteCount = retained
            let results = state.requests.compactMap { request in
                self.knownResult(for: request.index, in: state).map { (request, $0) }
            }
            let ended = results.map(\.0.waiter)
            state.requests.removeAll { request in ended.contains { $0 === request.waiter } }
            let isNew = previous != (state.info.frameCount, state.info.isComplete)
            return (results, isNew ? Array(state.viewers.values) : [])
        }
        return {
            for (request, result) in results { request.waiter.resume(returning: result) }
            for viewer in viewers { viewer.frameArrived() }
        }
    }
}
