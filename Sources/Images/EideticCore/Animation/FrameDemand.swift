/// The frames that a viewer of an animation shows next.
package struct FrameDemand: Sendable, Hashable {
    /// The frames in the order in which they are shown, the one that is due first.
    package var frames: [Int]

    /// A Boolean value indicating whether the first of ``frames`` is on the screen, so that only the viewer needs it.
    package var isFirstShown: Bool

    /// The frame on the screen of a viewer that plays forward, which shows a frame in between if the first of
    /// ``frames`` takes long; `nil` in other orders.
    package var shownIndex: Int?

    package init(frames: [Int], isFirstShown: Bool = false, shownIndex: Int? = nil) {
        self.frames = frames
        self.isFirstShown = isFirstShown
        self.shownIndex = shownIndex
    }

    /// The frames that have to be decoded; the index of each is its rank, the number of frames that are shown before.
    var missingFrames: ArraySlice<Int> { isFirstShown ? frames.dropFirst() : frames[...] }

    /// A Boolean value indicating whether the viewer waits for this frame.
    func isDue(_ index: Int) -> Bool { !isFirstShown && frames.first == index }

    /// Returns `true` if a frame lies between the one on the screen and the one that is due; otherwise, `false`.
    package func isLate(for index: Int, count: Int) -> Bool {
        guard !isFirstShown, let shownIndex, let due = frames.first, index < count else { return false }
        let distance = { (($0 - shownIndex) % count + count) % count }
        return (1..<max(1, distance(due))).contains(distance(index))
    }
}
