/// A pool of idle handles, because creating a handle with its buffers takes longer than reusing one.
struct EasyHandlePool {
    private static let capacity = 64
    private var idle: [EasyHandle] = []

    mutating func acquire() -> EasyHandle? { idle.popLast() ?? EasyHandle() }

    /// Returns a handle to the pool, after a successful exchange.
    mutating func recycle(_ handle: EasyHandle) {
        guard idle.count < Self.capacity else { return }
        handle.reset()
        idle.append(handle)
    }
}
