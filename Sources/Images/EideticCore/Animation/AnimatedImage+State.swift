extension AnimatedImage {
    /// An object that shows frames, and the functions to tell it.
    struct Viewer {
        var demand: FrameDemand
        /// The newest frame that the viewer waited for; it holds the frame, whatever the window keeps.
        private(set) var arrivedFrame: (index: Int, pixels: PixelBuffer)?
        let frameArrived: @Sendable () -> Void

        /// Records a frame for which the viewer waits, or that it shows until that one is decoded.
        ///
        /// - Returns: `true` if it is such a frame; otherwise, `false`.
        @discardableResult
        mutating func receive(_ pixels: PixelBuffer, at index: Int, count: Int) -> Bool {
            guard demand.isDue(index) || demand.isLate(for: index, count: count) else { return false }
            arrivedFrame = (index, pixels)
            if demand.isDue(index) { demand.isFirstShown = true }
            return true
        }
    }

    /// A caller that waits for a frame.
    struct Request {
        let index: Int
        let waiter: Waiter<Result<PixelBuffer, EideticError>>
    }

    /// The stages of the work on the decoding threads.
    enum Activity {
        case idle
        /// Work is queued, with this context.
        case queued(JobContext)
        case running
    }

    /// The state of an animation, under its lock.
    struct State {
        var info: AnimationInfo
        var window: FrameWindow
        var viewers: [ObjectIdentifier: Viewer] = [:]
        var requests: [Request] = []
        var arrivedBytes: [UInt8] = []
        var hasNewBytes = false
        /// The number of bytes that are being parsed.
        var parsedByteCount = 0
        var isParsing = false
        var isFileComplete: Bool
        var activity = Activity.idle
        /// The error that has ended the animation.
        var failure: EideticError?
        /// The error of the download, which ends the animation after the bytes that have arrived.
        var downloadFailure: EideticError?
        /// The time before which no frame of a viewer is decoded, after an error that may pass.
        var retryTime: Duration?
        var decodedFrameCount = 0
        /// The frame that was decoded last.
        var lastIndex: Int?
        /// The most memory that the source keeps.
        var sourceByteLimit: Int

        init(info: AnimationInfo, window: FrameWindow, sourceByteLimit: Int) {
            self.info = info
            self.window = window
            self.sourceByteLimit = sourceByteLimit
            isFileComplete = info.isComplete
        }

        /// The frames that have to be decoded for the viewers; those at one place count as one.
        var wanted: [ArraySlice<Int>] {
            viewers.values.reduce(into: []) { lists, viewer in
                let frames = viewer.demand.missingFrames
                let isKnown = lists.contains { $0.startIndex == frames.startIndex && $0 == frames }
                if !frames.isEmpty, !isKnown { lists.append(frames) }
            }
        }

        /// Returns what a request for a frame ends with; `nil` if the frame must be decoded, or has not arrived.
        func knownResult(for index: Int) -> Result<PixelBuffer, EideticError>? {
            if let pixels = window.frames[index] { return .success(pixels) }
            guard index < 0 || (index >= info.frameCount && info.isComplete) else { return nil }
            let message = "there is no frame \(index); the animation has \(info.frameCount)"
            return .failure(failure ?? EideticError(.invalidArgument, message: message))
        }
    }
}

// MARK: Ends
extension AnimatedImage.State {
    /// Ends the animation because of an error; returns a function that tells those who wait.
    ///
    /// The first error counts, but each one shortens the animation to the frames before `count`.
    mutating func end(after error: EideticError, frameCount count: Int) -> @Sendable () -> Void {
        info.durations = Array(info.durations.prefix(count))
        info.isComplete = true
        isFileComplete = true
        window.removeFrames(from: count)
        arrivedBytes = []
        hasNewBytes = false
        failure = failure ?? error
        return announcement(isNew: true)
    }

    /// Ends the animation after the bytes of a download that has failed.
    mutating func endAfterDownload() -> @Sendable () -> Void {
        guard let error = downloadFailure, failure == nil else { return {} }
        return end(after: error, frameCount: info.frameCount)
    }

    /// Removes the requests that are answered; returns a function that tells them, and the viewers of a new state.
    mutating func announcement(isNew: Bool) -> @Sendable () -> Void {
        let results = requests.compactMap { request in knownResult(for: request.index).map { (request, $0) } }
        requests = requests.filter { knownResult(for: $0.index) == nil }
        let viewers = isNew ? Array(viewers.values) : []
        return {
            for (request, result) in results { request.waiter.resume(returning: result) }
            for viewer in viewers { viewer.frameArrived() }
        }
    }
}
