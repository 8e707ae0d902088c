import EideticCore

/// Shared memory for large results, prepared before it is needed.
///
/// Sealed memory cannot be used twice, and the first access to its pages takes longer than decoding into it. So after
/// each large result another memory of the same size is prepared beside the decode that comes next.
final class PreparedMemory: Sendable {
    private let state = Monitor<SharedMemory?>(nil)
    private let pool = WorkPool(name: "eidetic memory", maximumThreadCount: 1)

    /// The largest memory that is kept prepared: 64 MiB.
    static let maximumByteCount = 64 << 20
    /// The time for which memory is kept prepared.
    private static let keepingTime = Duration.seconds(2)

    init() {}

    /// Returns memory of at least `byteCount` bytes, prepared if the last one had the same size.
    func memory(byteCount: Int) throws(EideticError) -> SharedMemory {
        let prepared = state.withLock { prepared in
            defer { prepared = nil }
            return prepared
        }
        state.broadcast()
        if let prepared, prepared.byteCount >= byteCount, prepared.byteCount - byteCount < 1 << 16 { return prepared }
        return try SharedMemory(byteCount: byteCount)
    }

    /// Prepares memory like one that was used; returns at once.
    func prepare(byteCount: Int) {
        guard byteCount <= Self.maximumByteCount else { return }
        pool.enqueue(in: JobContext(priority: .low)) { [state] in
            guard state.withLock({ $0 == nil }), let memory = try? SharedMemory(byteCount: byteCount),
                let mapped = try? memory.map()
            else { return }
            mapped.populate()
            state.withLock { $0 = memory }
            _ = state.wait(for: Self.keepingTime) { $0 === memory ? nil : () }
            state.withLock { if $0 === memory { $0 = nil } }
        }
    }
}
