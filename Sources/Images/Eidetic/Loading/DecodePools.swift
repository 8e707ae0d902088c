import EideticCore

/// The threads that decode images.
struct DecodePools: Sendable {
    /// The pool for images that are decoded in this process.
    let common: WorkPool
    /// The pool for images that are decoded in the sandbox, whose threads wait for other processes.
    let sandboxed: WorkPool

    /// Creates pools of at most `maximumThreadCount` threads each; no thread starts before the first job.
    init(name: String, maximumThreadCount: Int) {
        common = WorkPool(name: name, maximumThreadCount: maximumThreadCount)
        sandboxed = WorkPool(name: "eidetic sandboxed", maximumThreadCount: maximumThreadCount)
    }

    /// Returns the pool that decodes these bytes; a few kilobytes suffice.
    func pool(for bytes: [UInt8], policy: DecodePolicy?) -> WorkPool {
        policy?.usesSandbox(for: bytes) == true ? sandboxed : common
    }
}
