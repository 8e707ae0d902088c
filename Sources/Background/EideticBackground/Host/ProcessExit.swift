import EideticCore
import Glibc

/// The end of the process.
enum ProcessExit {
    /// The time after which a main thread that is blocked is not waited for any more.
    private static let limit = Duration.seconds(1)

    /// Exits with status 0 on the main actor; without exit handlers if it is blocked.
    ///
    /// Exit handlers tear down what the main thread uses, such as the libraries of its display. On any other thread
    /// they would run beside it.
    static func perform() -> Never {
        let hasBegun = Monitor(false)
        Task { @MainActor in
            hasBegun.withLock { $0 = true }
            hasBegun.signal()
            exit(0)
        }
        guard hasBegun.wait(for: limit, until: { $0 ? true : nil }) != nil else {
            Log.write(.info, category: .background, message: "exiting without the main actor, which is blocked")
            fflush(nil)
            _exit(0)
        }
        while true { pause() }
    }
}
