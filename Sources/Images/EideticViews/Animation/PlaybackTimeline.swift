/// The current frame of an animation, as a function of the time that it has played.
///
/// Frames can be added at its end: until the last one is there, the time stands still behind those that are.
package struct PlaybackTimeline: Sendable {
    private(set) var durations: [Duration] = []
    private(set) var isComplete = false
    private let playback: AnimationPlayback
    private var loops: Int?
    /// The frames of one loop in the order in which they are shown.
    private var steps: [Int] = []
    /// The end of each step, from the start of a loop.
    private var endTimes: [Duration] = []
    private var position = Duration.zero
    private var completedLoops = 0
    private var step = 0

    /// A Boolean value indicating whether the last frame of the last loop is reached.
    package private(set) var isFinished = false

    /// Creates a timeline at its first frame.
    ///
    /// - Parameters:
    ///   - durations: The durations of the frames that are there.
    ///   - encodedLoopCount: The number of times that the animation plays by itself; `nil` for ever.
    ///   - isComplete: A Boolean value indicating whether these are all frames.
    ///   - playback: The speed, which plays no part here, the loops and the order.
    package init(
        durations: [Duration],
        encodedLoopCount: Int?,
        isComplete: Bool = true,
        playback: AnimationPlayback = AnimationPlayback()
    ) {
        self.playback = playback
        update(durations: durations, encodedLoopCount: encodedLoopCount, isComplete: isComplete)
        if playback.order == .reverse, isComplete { (step, position) = (0, .zero) }
    }

    /// The index of the current frame.
    package var frameIndex: Int { step < steps.count ? steps[step] : 0 }

    package var frameCount: Int { durations.count }

    /// Everything on which the frames that are shown next depend.
    package struct Place: Hashable, Sendable {
        fileprivate let step: Int
        fileprivate let completedLoops: Int
        fileprivate let frameCount: Int
        fileprivate let isComplete: Bool
        fileprivate let isFinished: Bool
    }

    /// The present place; while it stays the same, so do the frames that are shown next.
    package var place: Place {
        Place(
            step: step,
            completedLoops: completedLoops,
            frameCount: frameCount,
            isComplete: isComplete,
            isFinished: isFinished
        )
    }

    /// A Boolean value indicating whether the time has reached the end of the frames that are there.
    package var isStalled: Bool { !isComplete && position >= length }

    /// The time until the next frame; `nil` if there is none.
    package var timeToNextFrame: Duration? {
        guard !isFinished, !isStalled, canPlay else { return nil }
        return endTimes[step] - position
    }

    /// Replaces the durations by more of them.
    package mutating func update(durations: [Duration], encodedLoopCount: Int?, isComplete: Bool) {
        loops = playback.loopCount(encoded: encodedLoopCount)
        guard durations != self.durations || isComplete != self.isComplete else { return }
        let (frame, offset) = (frameIndex, position - startTime(ofStep: step))
        let isFirst = self.durations.isEmpty
        self.durations = durations
        self.isComplete = isComplete
        makeSteps()
        guard !isFirst, let next = steps.firstIndex(of: min(frame, max(0, durations.count - 1))) else { return }
        position = startTime(ofStep: next) + offset
        step = stepIndex(at: position)
    }

    private mutating func makeSteps() {
        let forward = Array(durations.indices)
        switch playback.order {
        case .reverse where isComplete: steps = forward.reversed()
        case .bounce where isComplete && forward.count > 2: steps = forward + forward.dropFirst().dropLast().reversed()
        default: steps = forward
        }
        var end = Duration.zero
        endTimes = steps.map { index in
            end += max(.zero, durations[index])
            return end
        }
    }

    private var length: Duration { endTimes.last ?? .zero }

    /// A Boolean value indicating whether the frame can change, now or when more frames are there.
    package var canPlay: Bool { length > .zero && (steps.count > 1 || !isComplete) && loops ?? 1 > 0 }

    private func startTime(ofStep step: Int) -> Duration {
        step > 0 && step <= endTimes.count ? endTimes[step - 1] : .zero
    }

    /// Returns the first step that ends after `time`; the last one at the end.
    private func stepIndex(at time: Duration) -> Int {
        var (low, high) = (0, max(0, endTimes.count - 1))
        while low < high {
            let middle = (low + high) / 2
            if endTimes[middle] > time { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

// MARK: Moving
extension PlaybackTimeline {
    /// Advances the playback; frames that ended meanwhile are skipped.
    ///
    /// - Returns: `true` if the current frame has changed; otherwise, `false`.
    @discardableResult
    package mutating func advance(by time: Duration) -> Bool {
        guard !isFinished, time > .zero, canPlay else { return false }
        let previous = frameIndex
        position += time
        guard isComplete else {
            position = min(position, length)
            step = stepIndex(at: position)
            return frameIndex != previous
        }
        var elapsedLoops = Int(position / length)
        // The quotient is rounded.
        if position < length * elapsedLoops { elapsedLoops -= 1 }
        if position >= length * (elapsedLoops + 1) { elapsedLoops += 1 }
        position -= length * elapsedLoops
        completedLoops += elapsedLoops
        if let loops, completedLoops >= loops {
            isFinished = true
            position = length
            step = steps.count - 1
        } else {
            step = stepIndex(at: position)
        }
        // There and back ends where it has begun.
        if isFinished, playback.order == .bounce { step = 0 }
        return frameIndex != previous
    }

    /// Moves to the start of a frame in the present loop; one that is not there yet is the last.
    package mutating func seek(toFrame index: Int) {
        guard let last = durations.indices.last else { return }
        isFinished = false
        if let loops { completedLoops = min(completedLoops, max(0, loops - 1)) }
        step = steps.firstIndex(of: min(max(0, index), last)) ?? 0
        position = startTime(ofStep: step)
    }

    /// Moves to a time in the present loop, counted in the order in which frames are shown.
    package mutating func seek(toTime time: Duration) {
        guard canPlay else { return }
        isFinished = false
        if let loops { completedLoops = min(completedLoops, max(0, loops - 1)) }
        position = min(max(.zero, time), length - .nanoseconds(1))
        step = stepIndex(at: position)
    }

    /// Returns the frames that are shown next, without repetitions, the current one first.
    package func upcomingFrames(_ count: Int) -> [Int] {
        guard !steps.isEmpty else { return [0] }
        guard !isFinished else { return [frameIndex] }
        let repeats = isComplete && (loops.map { completedLoops + 1 < $0 } ?? true)
        var frames: [Int] = []
        var seen: Set<Int> = []
        for distance in 0..<steps.count where frames.count < count {
            let next = step + distance
            guard next < steps.count || repeats else { break }
            let index = steps[next % steps.count]
            if seen.insert(index).inserted { frames.append(index) }
        }
        return frames
    }

    /// Returns the frames that were shown before the current one, the latest first, at most `count` of one loop.
    package func previousFrames(_ count: Int) -> [Int] {
        guard !steps.isEmpty else { return [] }
        return (1...max(1, min(count, steps.count - 1))).compactMap { distance in
            let previous = step - distance
            guard previous >= 0 || completedLoops > 0 else { return nil }
            return steps[(previous + steps.count) % steps.count]
        }
    }
}
