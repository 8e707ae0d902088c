import EideticCore

/// Accesses the pages of a result beside the decode, which would have to wait for one page after the other.
final class PageAccess: Sendable {
    private enum State { case waiting, running, stopped, done }

    private static let threads = WorkPool(name: "pages", maximumThreadCount: 1)
    /// The pages that are accessed at a time, during which no memory can be mapped: 512 KiB.
    private static let step = 512 << 10
    private let state = Monitor(State.waiting)

    init(to memory: MappedMemory) {
        // Safe to send: the pages are accessed until ``end()`` only. The mapping is not retained, because it must be
        // gone when the reply is sent.
        nonisolated(unsafe) let base = memory.base
        let byteCount = memory.byteCount
        Self.threads.enqueue { [state] in
            guard
                state.withLock({
                    $0 = $0 == .waiting ? .running : $0; return $0 == .running
                })
            else { return }
            var offset = 0
            while offset < byteCount, state.withLock({ $0 == .running }) {
                MappedMemory.populate(base + offset, byteCount: min(Self.step, byteCount - offset))
                offset += Self.step
            }
            state.withLock { $0 = .done }
            state.broadcast()
        }
    }

    /// Ends the accesses; the memory can be unmapped afterwards.
    func end() {
        state.wait { state in
            if state == .waiting { state = .done }
            if state == .running { state = .stopped }
            return state == .done ? () : nil
        }
    }
}
