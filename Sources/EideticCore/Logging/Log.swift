import Glibc
import Synchronization

/// Logging: off by default, by part and level, to the standard error output or the journal.
///
/// Set `EIDETIC_LOG` to a level (`info`) or to levels by part (`fetch=debug,store=info`), or call `configure`.
public enum Log {
    /// How much is said; each level includes those before it.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        /// Nothing.
        case off
        /// What failed and was not expected.
        case error
        /// What went on in a worse way: a cache that cannot write.
        case warning
        /// What happened: one line a load.
        case info
        /// Why it happened: each step.
        case debug

        /// Orders levels from silent to talkative.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// A part of Eidetic that can be logged on its own.
    public enum Category: String, Sendable, CaseIterable {
        /// Downloads.
        case fetch
        /// Memory and disk cache.
        case store
        /// Decoders and encoders.
        case codecs
        /// Requests on their way.
        case pipeline
        /// States and tasks of the application.
        case background
    }

    /// Where lines go.
    public enum Sink: Sendable {
        /// The standard error output.
        case standardError
        /// The system's journal, as `EIDETIC_PART` and `MESSAGE`.
        case journal
        /// A function of the caller's; it may be called on any thread, and must not call back into Eidetic.
        case custom(@Sendable (Level, Category, String) -> Void)
    }

    /// Sets the levels and the sink for the whole process; parts that are not named are silent.
    public static func configure(_ levels: [Category: Level], sink: Sink = .standardError) {
        configuration.withLock { $0 = Configuration(levels: levels, sink: sink) }
        highestLevel.store(levels.values.max()?.rawValue ?? 0, ordering: .relaxed)
    }

    /// Sets one level for all parts.
    public static func configure(_ level: Level, sink: Sink = .standardError) {
        configure(Dictionary(uniqueKeysWithValues: Category.allCases.map { ($0, level) }), sink: sink)
    }

    package static func write(_ level: Level, category part: Category, message: @autoclosure () -> String) {
        guard level.rawValue <= highestLevel.load(ordering: .relaxed) else { return }
        let current = configuration.withLock { $0 }
        guard level <= current.levels[part] ?? .off else { return }
        emit(level, level: part, category: message(), to: current.sink)
    }

    private struct Configuration {
        var levels: [Category: Level]
        var sink: Sink
    }

    private static let initialConfiguration = Configuration(
        levels: parseLevels(getenv("EIDETIC_LOG").map { String(cString: $0) } ?? ""),
        sink: .standardError
    )
    private static let configuration = Guarded(initialConfiguration)
    private static let highestLevel = Atomic<Int>(initialConfiguration.levels.values.max()?.rawValue ?? 0)

    /// Reads `info` or `fetch=debug,store=info`; what is not understood is left out.
    package static func parseLevels(_ text: String) -> [Category: Level] {
        let names: [String: Level] = [
            "off": .off, "error": .error, "warning": .warning, "info": .info, "debug": .debug,
        ]
        var levels: [Category: Level] = [:]
        for item in text.split(separator: ",") {
            let sides = item.split(separator: "=").map(String.init)
            if sides.count == 1, let level = names[sides[0]] { for part in Category.allCases { levels[part] = level } }
            if sides.count == 2, let part = Category(rawValue: sides[0]), let level = names[sides[1]] {
                levels[part] = level
            }
        }
        return levels
    }

    private static func emit(_ level: Level, level part: Category, category message: String, to sink: Sink) {
        switch sink {
        case .standardError:
            let line = "eidetic \(part.rawValue) \(level): \(message)\n"
            _ = line.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
        case .journal: Journal.send(level: level, category: part, message: message)
        case .custom(let receive): receive(level, part, message)
        }
    }
}
