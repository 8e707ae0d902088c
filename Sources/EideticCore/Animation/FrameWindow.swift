/// The decoded frames of an animation that are kept: a bounded number of bytes.
///
/// Viewers list the frames that they show next, in order. What is shown sooner is decoded first and removed last; the
/// first frame always stays, because each repetition begins with it.
struct FrameWindow {
    /// The limit of all frames, in bytes; it always has room for three frames.
    let limit: Int
    private(set) var frames: [Int: PixelBuffer] = [:]
    private(set) var byteCount = 0

    init(limit: Int) { self.limit = limit }

    /// The smallest number of frames that are kept: the first one, the one on the screen, and the one after it.
    static let minimumCount = 3

    /// Returns the number of frames of a size that fit.
    func capacity(frameByteCount: Int) -> Int { max(Self.minimumCount, limit / max(1, frameByteCount)) }

    /// Returns the frame to decode next.
    ///
    /// - Parameters:
    ///   - wanted: The frames that each viewer shows, in order.
    ///   - count: The number of frames that can be decoded.
    ///   - frameByteCount: The bytes of a frame.
    /// - Returns: The index, and its position in the list of the viewer that needs it first; `nil` if there is nothing
    ///   to decode, or no room for frames that are needed later than those that are there.
    func next(wanted: [[Int]], count: Int, frameByteCount: Int) -> (index: Int, rank: Int)? {
        let isFull = frames.count >= Self.minimumCount && byteCount + frameByteCount > limit
        let latest = isFull ? latestRank(wanted) : .max
        for rank in 0..<(wanted.map(\.count).max() ?? 0) {
            guard rank < latest else { return nil }
            for list in wanted where rank < list.count {
                let index = list[rank]
                if index < count, frames[index] == nil { return (index, rank) }
            }
        }
        return nil
    }

    /// Inserts a frame, and removes those that are needed last while there are too many.
    mutating func insert(_ pixels: PixelBuffer, at index: Int, wanted: [[Int]]) {
        byteCount += pixels.byteCount.bytes - (frames[index]?.byteCount.bytes ?? 0)
        frames[index] = pixels
        guard byteCount > limit else { return }
        let ranks = ranks(wanted)
        while byteCount > limit, frames.count > Self.minimumCount,
            let last = frames.keys.filter({ $0 != 0 && $0 != index }).max(by: { isNeeded($0, before: $1, by: ranks) })
        {
            byteCount -= frames.removeValue(forKey: last)?.byteCount.bytes ?? 0
        }
    }

    private func isNeeded(_ left: Int, before right: Int, by ranks: [Int: Int]) -> Bool {
        let (first, second) = (ranks[left] ?? .max, ranks[right] ?? .max)
        return first != second ? first < second : left > right
    }

    private func ranks(_ wanted: [[Int]]) -> [Int: Int] {
        var ranks: [Int: Int] = [:]
        for list in wanted {
            for (rank, index) in list.enumerated() where rank < ranks[index] ?? .max { ranks[index] = rank }
        }
        return ranks
    }

    /// The rank of the kept frame that is needed last.
    private func latestRank(_ wanted: [[Int]]) -> Int {
        let ranks = ranks(wanted)
        return frames.keys.filter { $0 != 0 }.map { ranks[$0] ?? .max }.max() ?? .max
    }
}
