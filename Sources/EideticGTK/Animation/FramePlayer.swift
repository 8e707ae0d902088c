/// The current frame of an animation, as a function of the time that it has played.
package struct FramePlayer: Sendable {
    /// The number of loops; `nil` for endless playback.
    private let loops: Int?
    /// The end of each frame, from the start of a loop.
    private let endTimes: [Duration]
    private var position = Duration.zero
    private var completedLoops = 0

    /// The index of the current frame.
    package private(set) var frameIndex = 0

    /// A Boolean value indicating whether the last frame of the last loop is reached.
    package private(set) var isFinished = false

    /// Creates a player at the first frame; `nil` with fewer than two frames, or if all durations are zero.
    package init?(durations: [Duration], loops: Int?) {
        var end = Duration.zero
        endTimes = durations.map { duration in
            end += max(.zero, duration)
            return end
        }
        guard durations.count > 1, end > .zero, loops ?? 1 > 0 else { return nil }
        self.loops = loops
    }

    /// Advances the playback; frames that ended meanwhile are skipped.
    ///
    /// - Returns: `true` if the current frame has changed; otherwise, `false`.
    package mutating func advance(by time: Duration) -> Bool {
        guard !isFinished, time > .zero, let length = endTimes.last else { return false }
        let previousIndex = frameIndex
        position += time
        let elapsedLoops = Int(position / length)
        position -= length * elapsedLoops
        completedLoops += elapsedLoops
        if let loops, completedLoops >= loops {
            isFinished = true
            frameIndex = endTimes.count - 1
        } else {
            frameIndex = frameIndex(at: position)
        }
        return frameIndex != previousIndex
    }

    /// Returns the first frame that ends after `time`.
    private func frameIndex(at time: Duration) -> Int {
        var (low, high) = (0, endTimes.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if endTimes[middle] > time { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
