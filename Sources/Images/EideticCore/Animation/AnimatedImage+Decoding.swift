extension AnimatedImage {
    private enum Work {
        case parse([UInt8], isComplete: Bool)
        /// A frame, and whether a caller waits for exactly this one.
        case decode(Int, isRequested: Bool)
    }

    /// The number of frames that are drawn at most before one is shown.
    private static let stride = 4

    /// Queues work if there is any; work that is queued already becomes urgent if a frame is due by now.
    func startWork() {
        guard let source else { return }
        let (started, raised) = state.withLock { state -> (JobContext?, JobContext?) in
            switch state.activity {
            case .running: return (nil, nil)
            case .queued(let context) where context.priority == .normal: return (nil, nil)
            default: break
            }
            guard let priority = priority(of: &state) else { return (nil, nil) }
            if case .queued(let context) = state.activity { return (nil, priority == .normal ? context : nil) }
            return (queue(&state, priority: priority), nil)
        }
        raised?.priority = .normal
        if let started { enqueue(in: started, with: source) }
    }

    private func queue(_ state: inout State, priority: LoadPriority) -> JobContext {
        let context = JobContext(priority: priority)
        state.activity = .queued(context)
        return context
    }

    private func enqueue(in context: JobContext, with source: any FrameSource) {
        schedule(context) { [weak self] in self?.perform(with: source) }
    }

    /// Returns the priority of the next work; `nil` if there is none.
    ///
    /// A frame that is due comes with the images of views, one in advance after them.
    private func priority(of state: inout State) -> LoadPriority? {
        if state.hasNewBytes || dueRequest(in: state) != nil { return .normal }
        return choice(in: &state).map { $0.rank < 2 ? .normal : .low }
    }

    private func dueRequest(in state: State) -> Int? {
        state.requests.first { $0.index < state.info.frameCount }?.index
    }

    private func choice(in state: inout State) -> FrameWindow.Choice? {
        guard !state.viewers.isEmpty, state.window.frames.count < state.info.frameCount else { return nil }
        if let retryTime = state.retryTime {
            guard time.uptime >= retryTime else { return nil }
            state.retryTime = nil
        }
        return state.window.next(
            wanted: state.wanted,
            after: state.lastIndex,
            count: state.info.frameCount,
            frameByteCount: frameByteCount
        )
    }

    /// Returns the work that is most urgent now.
    private func takeWork(_ state: inout State) -> Work? {
        state.activity = .running
        if state.hasNewBytes {
            let bytes = state.arrivedBytes
            state.arrivedBytes = []
            state.hasNewBytes = false
            state.isParsing = true
            state.parsedByteCount = bytes.count
            return .parse(bytes, isComplete: state.isFileComplete && state.downloadFailure == nil)
        }
        if let index = dueRequest(in: state) { return .decode(index, isRequested: true) }
        return choice(in: &state).map { .decode($0.index, isRequested: false) }
    }

    private func perform(with source: any FrameSource) {
        let finished: @Sendable () -> Void
        switch state.withLock({ takeWork(&$0) }) {
        case .parse(let bytes, let isComplete): finished = parse(bytes, isComplete: isComplete, with: source)
        case .decode(let index, isRequested: true): finished = decode(index, with: source)
        case .decode(let index, isRequested: false): finished = decode(stop(before: index, of: source), with: source)
        case nil: finished = {}
        }
        let next = state.withLock { state -> JobContext? in
            state.activity = .idle
            return priority(of: &state).map { queue(&state, priority: $0) }
        }
        finished()
        if let next { enqueue(in: next, with: source) }
    }

    /// Parses bytes; returns a function that tells the viewers.
    private func parse(_ bytes: [UInt8], isComplete: Bool, with source: any FrameSource) -> @Sendable () -> Void {
        var failure: EideticError?
        do throws(EideticError) { _ = try source.append(bytes, isComplete: isComplete) } catch { failure = error }
        // After an error these are the frames before it.
        let (info, limit) = (source.info, source.retainedByteLimit)
        return state.withLock { state in
            state.isParsing = false
            state.parsedByteCount = 0
            state.sourceByteLimit = limit
            guard state.failure == nil else { return {} }
            let isNew = (info.frameCount, info.isComplete) != (state.info.frameCount, state.info.isComplete)
            state.info = info
            if let failure { return state.end(after: failure, frameCount: info.frameCount) }
            if state.downloadFailure != nil, !state.hasNewBytes { return state.endAfterDownload() }
            return state.announcement(isNew: isNew)
        }
    }
}

// MARK: Frames
extension AnimatedImage {
    /// Returns the frame that is decoded on the way to another one.
    ///
    /// A view that is late would otherwise show nothing until all frames between are drawn, and be later still.
    private func stop(before index: Int, of source: any FrameSource) -> Int {
        let stop = source.firstFrameDrawn(for: index) + Self.stride - 1
        guard stop < index else { return index }
        return state.withLock { state in
            let isUseful = state.viewers.values.contains {
                $0.demand.isDue(index) && $0.demand.isLate(for: stop, count: state.info.frameCount)
            }
            return isUseful ? stop : index
        }
    }

    /// Decodes a frame into the window; returns a function that tells those who wait for it.
    private func decode(_ index: Int, with source: any FrameSource) -> @Sendable () -> Void {
        let start = time.uptime
        do throws(EideticError) {
            let pixels = try source.frame(at: index, context: JobContext())
            let limit = source.retainedByteLimit
            return state.withLock { record(pixels, at: index, sourceByteLimit: limit, in: &$0) }
        } catch {
            let duration = time.uptime - start
            return state.withLock { recordFailure(error, at: index, after: duration, in: &$0) }
        }
    }

    private func record(
        _ pixels: PixelBuffer,
        at index: Int,
        sourceByteLimit: Int,
        in state: inout State
    ) -> @Sendable () -> Void {
        var arrivals: [@Sendable () -> Void] = []
        for key in state.viewers.keys {
            let isAwaited = state.viewers[key]?.receive(pixels, at: index, count: state.info.frameCount)
            if isAwaited == true, let viewer = state.viewers[key] { arrivals.append(viewer.frameArrived) }
        }
        state.window.insert(pixels, at: index, wanted: state.wanted, isShown: !arrivals.isEmpty)
        state.lastIndex = index
        state.sourceByteLimit = sourceByteLimit
        state.decodedFrameCount += 1
        let requests = state.requests.filter { $0.index == index }
        state.requests.removeAll { $0.index == index }
        return { [arrivals] in
            for request in requests { request.waiter.resume(returning: .success(pixels)) }
            for arrived in arrivals { arrived() }
        }
    }

    /// Ends the animation before a frame that is corrupt; after an error that may pass, lets callers and viewers try
    /// again.
    private func recordFailure(
        _ error: EideticError,
        at index: Int,
        after duration: Duration,
        in state: inout State
    ) -> @Sendable () -> Void {
        guard error.mayPass else { return state.end(after: error, frameCount: index) }
        state.retryTime = time.uptime + max(.seconds(1), duration)
        let requests = state.requests.filter { $0.index == index }
        state.requests.removeAll { $0.index == index }
        return { for request in requests { request.waiter.resume(returning: .failure(error)) } }
    }
}

extension EideticError {
    /// A Boolean value indicating whether the cause may be gone later, because it is not the image.
    fileprivate var mayPass: Bool {
        switch code {
        case .cancelled, .limitExceeded, .outOfMemory, .sandboxUnavailable: true
        default: false
        }
    }
}
