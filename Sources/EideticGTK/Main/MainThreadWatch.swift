#if GTK
internal import CGTK

/// How long Eidetic holds the main thread at a time; for tests and measurements.
@MainActor
package enum MainThreadWatch {
    private static var longestCall = Duration.zero

    /// Notes how long `body` takes.
    static func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        let start = g_get_monotonic_time()
        defer { longestCall = max(longestCall, .microseconds(g_get_monotonic_time() - start)) }
        return try body()
    }

    /// The longest time since the last call: of one turn of the main actor's jobs, all that were ready together, or of
    /// one call by the toolkit or the program.
    package static func takeLongest() -> Duration {
        defer { longestCall = .zero }
        return max(longestCall, .microseconds(eidetic_main_queue_longest_turn()))
    }
}
#endif
