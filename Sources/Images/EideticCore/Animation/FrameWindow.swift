/// The decoded frames of an animation that are kept: a bounded number of bytes.
///
/// Viewers list the frames that they show next, in order. What is shown sooner is decoded first and removed last; the
/// first frame always stays, because each repetition begins with it. What is on the screen is held by its viewer.
struct FrameWindow {
    /// The limit of all frames, in bytes; it always has room for three frames.
    let limit: Int
    private(set) var frames: [Int: PixelBuffer] = [:]
    private(set) var byteCount = 0
    /// The order in which the frames were inserted.
    private var ages: [Int: Int] = [:]
    private var insertionCount = 0

    init(limit: Int) { self.limit = limit }

    /// The smallest number of frames that are kept: the first one, and two that are shown next.
    static let minimumCount = 3

    /// The number of frames that may have to be drawn for the one that follows those drawn last.
    private static let reach = 4

    /// Returns the number of frames of a size that fit.
    func capacity(frameByteCount: Int) -> Int { max(Self.minimumCount, limit / max(1, frameByteCount)) }

    /// A frame to decode, and the number of frames that a viewer shows before it.
    struct Choice: Equatable {
        let index: Int
        let rank: Int
    }

    /// Returns the frame to decode next.
    ///
    /// Frames are cheap in the order in which they are drawn. Of several viewers at different places, one is given
    /// frames in a row until another one is about to have none.
    ///
    /// - Parameters:
    ///   - wanted: The frames that each viewer shows, by their ranks.
    ///   - last: The frame that was decoded last.
    ///   - count: The number of frames that can be decoded.
    ///   - frameByteCount: The bytes of a frame.
    /// - Returns: The frame; `nil` if there is nothing to decode, or no room for frames that are needed later than
    ///   those that are there.
    func next(wanted: [ArraySlice<Int>], after last: Int?, count: Int, frameByteCount: Int) -> Choice? {
        guard frames.count < count else { return nil }
        let isFull = frames.count >= Self.minimumCount && byteCount + frameByteCount > limit
        let latest = isFull ? latestRank(wanted) : .max
        guard let first = firstMissing(wanted, count: count), first.rank < latest else { return nil }
        let supply = max(2, min(4, (wanted.map(\.endIndex).max() ?? 0) / 4))
        guard wanted.count > 1, let last, first.rank >= supply else { return first }
        guard let next = following(last, wanted: wanted, count: count), next.rank < latest else { return nil }
        return next
    }

    private func firstMissing(_ wanted: [ArraySlice<Int>], count: Int) -> Choice? {
        for rank in 0..<(wanted.map(\.endIndex).max() ?? 0) {
            for list in wanted where list.indices.contains(rank) {
                if list[rank] < count, frames[list[rank]] == nil { return Choice(index: list[rank], rank: rank) }
            }
        }
        return nil
    }

    /// Returns the first missing frame behind one that was decoded, if it is wanted and not far.
    private func following(_ last: Int, wanted: [ArraySlice<Int>], count: Int) -> Choice? {
        for distance in 1...Self.reach {
            let index = (last + distance) % count
            guard frames[index] == nil else { continue }
            let rank = wanted.compactMap { $0.firstIndex(of: index) }.min()
            return rank.map { Choice(index: index, rank: $0) }
        }
        return nil
    }

    /// Inserts a frame, and removes those that are needed last while there are too many.
    ///
    /// - Parameters:
    ///   - pixels: The frame.
    ///   - index: Its index.
    ///   - wanted: The frames that each viewer shows, by their ranks.
    ///   - isShown: `true` if viewers hold the frame already, so that it need not stay.
    mutating func insert(_ pixels: PixelBuffer, at index: Int, wanted: [ArraySlice<Int>], isShown: Bool = false) {
        byteCount += pixels.byteCount.bytes - (frames[index]?.byteCount.bytes ?? 0)
        frames[index] = pixels
        insertionCount += 1
        ages[index] = insertionCount
        guard byteCount > limit else { return }
        let ranks = ranks(wanted)
        let mayGo = { $0 != 0 && ($0 != index || (isShown && ranks[index] == nil)) }
        while byteCount > limit, frames.count > Self.minimumCount,
            let last = frames.keys.filter(mayGo).max(by: { isNeeded($0, before: $1, by: ranks) })
        { remove(last) }
    }

    /// Removes the frames from an index on.
    mutating func removeFrames(from start: Int) {
        for index in frames.keys where index >= max(1, start) { remove(index) }
    }

    private mutating func remove(_ index: Int) {
        byteCount -= frames.removeValue(forKey: index)?.byteCount.bytes ?? 0
        ages[index] = nil
    }

    /// Of frames that nobody needs, the one that was decoded later.
    private func isNeeded(_ left: Int, before right: Int, by ranks: [Int: Int]) -> Bool {
        let (first, second) = (ranks[left] ?? .max, ranks[right] ?? .max)
        return first != second ? first < second : ages[left] ?? 0 > ages[right] ?? 0
    }

    private func ranks(_ wanted: [ArraySlice<Int>]) -> [Int: Int] {
        var ranks: [Int: Int] = [:]
        for list in wanted {
            for rank in list.indices where rank < ranks[list[rank]] ?? .max { ranks[list[rank]] = rank }
        }
        return ranks
    }

    /// The rank of the kept frame that is needed last.
    private func latestRank(_ wanted: [ArraySlice<Int>]) -> Int {
        let ranks = ranks(wanted)
        return frames.keys.filter { $0 != 0 }.map { ranks[$0] ?? .max }.max() ?? .max
    }
}
