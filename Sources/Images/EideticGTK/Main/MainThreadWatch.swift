#if GTK
internal import CGTK

/// Tells benchmarks when Eidetic works on the main thread: one turn of the main actor's jobs, all that were ready
/// together, or one call by the toolkit or the program.
@MainActor
enum MainThreadWatch {
    static func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        eidetic_watch(1)
        defer { eidetic_watch(0) }
        return try body()
    }
}
#endif
