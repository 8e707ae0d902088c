import EideticCore

/// The memory of a released preview, which the next preview of the same image takes.
///
/// The first access to the pages of twelve megapixels takes a sixth of the time of decoding them.
final class SparePixels: Sendable {
    /// The memory of a preview.
    struct Spare {
        let block: PixelMemory.Block
        /// The number of its first rows that no longer change, above transparent rows; `nil` if all may change.
        var rowCount: Int? = 0
    }

    private struct State {
        var spare: Spare?
        var isClosed = false
    }

    private let byteCount: Int
    private let state = Guarded(State())

    init(byteCount: Int) { self.byteCount = byteCount }

    /// Returns the memory, if there is any; nothing while pixels are made for another process.
    func take() -> Spare? {
        if LentMemory.isActive { return nil }
        let spare = state.withLock { state in
            defer { state.spare = nil }
            return state.spare
        }
        if spare != nil { DecodeMemoryBudget.previews.release(byteCount) }
        return spare
    }

    /// Keeps the memory for the next preview if the budget of previews allows it; otherwise, releases it.
    func give(_ spare: Spare) {
        guard spare.block.isOwn, DecodeMemoryBudget.previews.tryReserve(byteCount) else {
            return PixelMemory.deallocate(spare.block)
        }
        let isKept = state.withLock { state in
            guard !state.isClosed, state.spare == nil else { return false }
            state.spare = spare
            return true
        }
        if !isKept { release(spare) }
    }

    /// Releases what is kept, and keeps nothing more.
    func close() {
        let spare = state.withLock { state in
            state.isClosed = true
            defer { state.spare = nil }
            return state.spare
        }
        if let spare { release(spare) }
    }

    private func release(_ spare: Spare) {
        PixelMemory.deallocate(spare.block)
        DecodeMemoryBudget.previews.release(byteCount)
    }
}
