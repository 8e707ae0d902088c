import EideticCore

/// The shared memory of large results, kept for the next ones, and prepared before it is needed.
///
/// The first access to new pages takes longer than decoding into them. So the memory of an image that is released is
/// used again; and while images are kept, memory for the next one is prepared beside its decode.
final class ResultMemoryPool: Sendable {
    private struct State {
        var free: [ResultMemory] = []
        var isTrimming = false
        var createdCount = 0

        func index(fitting byteCount: Int) -> Int? {
            free.lastIndex { $0.byteCount >= byteCount && $0.byteCount - byteCount <= byteCount / 4 + (1 << 16) }
        }
    }

    private let state = Monitor(State())
    private let reusableCount: ReusableMemoryCount
    private let threads = WorkPool(name: "eidetic memory", maximumThreadCount: 2)

    /// The largest memory that is kept for other images: 64 MiB.
    static let maximumByteCount = 64 << 20
    /// The time for which memory is kept without an image.
    private static let keepingTime = Duration.seconds(2)
    /// The time in which an image is released that is not shown.
    private static let releaseTime = Duration.milliseconds(20)

    /// Creates a pool with at most `reusableLimit` memories that are used again; the others are sealed, and used once.
    init(reusableLimit: Int) { reusableCount = ReusableMemoryCount(limit: reusableLimit) }

    var createdCount: Int { state.withLock { $0.createdCount } }

    /// Returns memory of at least `byteCount` bytes, used before if there is some.
    func memory(byteCount: Int) throws(EideticError) -> ResultMemory {
        let used = state.withLock { state in state.index(fitting: byteCount).map { state.free.remove(at: $0) } }
        return if let used { used } else { try makeMemory(byteCount: byteCount) }
    }

    private func makeMemory(byteCount: Int) throws(EideticError) -> ResultMemory {
        state.withLock { $0.createdCount += 1 }
        return try ResultMemory(byteCount: byteCount, reusableCount: reusableCount)
    }

    /// Prepares memory like one that was used, unless that comes back soon; returns at once.
    func prepare(byteCount: Int) {
        guard byteCount <= Self.maximumByteCount else { return }
        threads.enqueue(in: JobContext(priority: .low)) { [self] in
            let isThere = state.wait(for: Self.releaseTime) { $0.index(fitting: byteCount).map { _ in () } } != nil
            guard !isThere, let memory = try? makeMemory(byteCount: byteCount) else { return }
            memory.populate()
            keep(memory)
        }
    }

    /// Keeps memory that no image uses any more.
    func giveBack(_ memory: ResultMemory) { if memory.isReusable { keep(memory) } }

    private func keep(_ memory: ResultMemory) {
        let (surplus, startsTrimming) = state.withLock { state -> ([ResultMemory], Bool) in
            var surplus: [ResultMemory] = []
            state.free.append(memory)
            while state.free.reduce(0, { $0 + $1.byteCount }) > Self.maximumByteCount {
                surplus.append(state.free.removeFirst())
            }
            defer { state.isTrimming = state.isTrimming || !state.free.isEmpty }
            return (surplus, !state.isTrimming && !state.free.isEmpty)
        }
        state.broadcast()
        // Its pages are released on another thread, which takes milliseconds.
        if !surplus.isEmpty { threads.enqueue(in: JobContext(priority: .low)) { _ = surplus } }
        if startsTrimming { threads.enqueue(in: JobContext(priority: .low)) { [self] in trim() } }
    }

    /// Releases memory that nobody has used for a time.
    private func trim() {
        var previous: [ResultMemory] = []
        while true {
            _ = state.wait(for: Self.keepingTime) { _ in nil as Void? }
            let (unused, isDone) = state.withLock { state -> ([ResultMemory], Bool) in
                let unused = state.free.filter { memory in previous.contains { $0 === memory } }
                state.free.removeAll { memory in unused.contains { $0 === memory } }
                previous = state.free
                state.isTrimming = !state.free.isEmpty
                return (unused, state.free.isEmpty)
            }
            _ = consume unused
            if isDone { return }
        }
    }
}

/// Memory that an image uses, given back with the last of its frames.
final class UsedMemory: Sendable {
    private let memory: ResultMemory
    private let pool: ResultMemoryPool

    init(_ memory: ResultMemory, of pool: ResultMemoryPool) { (self.memory, self.pool) = (memory, pool) }

    deinit { pool.giveBack(memory) }
}
