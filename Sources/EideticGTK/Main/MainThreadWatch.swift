#if GTK
internal import CGTK

/// How long Eidetic holds the main thread at a time; for tests and measurements.
@MainActor
package enum MainThreadWatch {
    /// Begins to watch; costs some system calls for each callback.
    package static func start() { eidetic_watch_start() }

    /// Notes how long `body` takes.
    static func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        eidetic_watch_begin()
        defer { eidetic_watch_end() }
        return try body()
    }

    /// Does what is not to be counted, within what is watched.
    package static func exclude<Result>(_ body: () throws -> Result) rethrows -> Result {
        eidetic_watch_begin_exclusion()
        defer { eidetic_watch_end_exclusion() }
        return try body()
    }

    /// The longest time since the last call of one turn of the main actor's jobs, all that were ready together, or of one
    /// call by the toolkit or the program: by the clock, and of the processor.
    ///
    /// They differ where a lock was waited for.
    package static func takeLongest() -> (held: Duration, own: Duration) {
        var own: gint64 = 0
        let held = eidetic_watch_take_longest(&own)
        return (.microseconds(held), .microseconds(own))
    }
}
#endif
