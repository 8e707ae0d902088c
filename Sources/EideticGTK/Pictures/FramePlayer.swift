/// Which frame of an animation is to be seen after so much time of playing.
package struct FramePlayer: Sendable {
    /// How often an animation plays.
    private let loops: Int?
    /// When each frame ends, from the beginning of a loop.
    private let ends: [Duration]
    private var position = Duration.zero
    private var loop = 0

    /// The frame to be seen now.
    package private(set) var index = 0

    /// Whether the last frame of the last loop is reached.
    package private(set) var isOver = false

    /// Creates a player at the first frame; `nil` where nothing can play: less than two frames, or all of no duration.
    package init?(durations: [Duration], loops: Int?) {
        var end = Duration.zero
        ends = durations.map { duration in
            end += max(.zero, duration)
            return end
        }
        guard durations.count > 1, end > .zero, loops ?? 1 > 0 else { return nil }
        self.loops = loops
    }

    /// Lets time pass; gives whether another frame is to be seen.
    ///
    /// Frames whose time is over are left out.
    package mutating func advance(by time: Duration) -> Bool {
        guard !isOver, time > .zero, let length = ends.last else { return false }
        let before = index
        position += time
        let passed = Int(position / length)
        position -= length * passed
        loop += passed
        if let loops, loop >= loops {
            isOver = true
            index = ends.count - 1
        } else {
            index = frame(at: position)
        }
        return index != before
    }

    /// The first frame that ends after `time`.
    private func frame(at time: Duration) -> Int {
        var (low, high) = (0, ends.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > time { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
