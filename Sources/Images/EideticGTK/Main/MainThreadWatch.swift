#if GTK
internal import CGTK

/// A measurement of the time for which Eidetic blocks the main thread, for tests and benchmarks.
@MainActor
package enum MainThreadWatch {
    /// Starts the measurement, which costs some system calls for each callback.
    package static func start() { eidetic_watch_start() }

    /// Measures `body`.
    static func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        eidetic_watch_begin()
        defer { eidetic_watch_end() }
        return try body()
    }

    /// Excludes `body` from the measurement around it.
    package static func exclude<Result>(_ body: () throws -> Result) rethrows -> Result {
        eidetic_watch_begin_exclusion()
        defer { eidetic_watch_end_exclusion() }
        return try body()
    }

    /// Returns the longest times since the last call, and resets them.
    ///
    /// One measurement is one turn of the main actor's jobs, all that were ready together, or one call by the toolkit
    /// or the program. The two times differ if the thread waited for a lock.
    package static func consumeLongest() -> (elapsed: Duration, processor: Duration) {
        var processor: gint64 = 0
        let elapsed = eidetic_watch_take_longest(&processor)
        return (.microseconds(elapsed), .microseconds(processor))
    }
}
#endif
