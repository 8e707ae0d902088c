import EideticCore
import Glibc

/// The end of the process.
enum ProcessExit {
    /// The time after which a main thread that is blocked is not waited for any more.
    private static let limit = Duration.seconds(1)
    /// The time after which exit handlers are not waited for any more.
    private static let handlerLimit = Duration.seconds(5)

    /// Exits with status 0 on the main actor; without exit handlers if it is blocked, or if they do not end.
    ///
    /// Exit handlers tear down what the main thread uses, such as the libraries of its display. On any other thread
    /// they would run beside it. From version 2.41 of glibc on, they wait for a thread that reads standard input.
    static func perform() -> Never {
        let hasBegun = Monitor(false)
        Task { @MainActor in
            hasBegun.withLock { $0 = true }
            hasBegun.signal()
            exit(0)
        }
        if hasBegun.wait(for: limit, until: { $0 ? true : nil }) == nil {
            Log.write(.info, category: .background, message: "exiting without the main actor, which is blocked")
        } else {
            _ = Monitor(()).wait(for: handlerLimit) { _ in Optional<Void>.none }
            Log.write(.info, category: .background, message: "exiting before the end of the exit handlers")
        }
        // Waits for a stream that another thread reads, such as standard input; the others come before it.
        let isFlushed = Monitor(false)
        Thread.start(name: "eidetic exit") {
            fflush(nil)
            isFlushed.withLock { $0 = true }
            isFlushed.signal()
        }
        _ = isFlushed.wait(for: limit) { $0 ? true : nil }
        _exit(0)
    }
}
