import EideticCore

/// Calls the expiration handlers of libraries beside the lifecycle thread, which keeps the time.
///
/// A handler that blocks occupies one of 64 threads and no other handler; its task stays open, so the process is killed
/// at the limit, and the report names it.
enum HandlerThreads {
    private static let maximumThreadCount = 64

    /// Calls each handler once, several at a time, and returns at once.
    static func call(_ handlers: [@Sendable () -> Void]) {
        let queue = Guarded(handlers[...])
        for _ in 0..<min(handlers.count, maximumThreadCount) {
            Thread.start(name: "eidetic-expire") {
                while let handler = queue.withLock({ $0.popFirst() }) { handler() }
            }
        }
    }
}
