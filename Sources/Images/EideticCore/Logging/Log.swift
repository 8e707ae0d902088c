import Glibc
import Synchronization

/// Logging by category and level, to the standard error or the journal; off by default.
///
/// Set `EIDETIC_LOG` to a level (`info`) or to levels by category (`fetch=debug,store=info`), or call `configure`.
package enum Log {
    /// The amount of logging; each level includes those before it.
    package enum Level: Int, Sendable, Comparable, CaseIterable {
        /// No logging.
        case off
        /// Unexpected failures.
        case error
        /// Degraded operation, as of a cache that cannot write.
        case warning
        /// Events: one line per load.
        case info
        /// Every step, with its reason.
        case debug

        /// Returns `true` if the first level logs less than the second.
        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// A part of Eidetic whose level can be set separately.
    package enum Category: String, Sendable, CaseIterable {
        case fetch
        /// The memory cache and the disk cache.
        case store
        case codecs
        case pipeline
        /// The states and background tasks of the application.
        case background
    }

    /// The destination of log lines.
    package enum Sink: Sendable {
        case standardError
        /// The systemd journal, with the fields `EIDETIC_PART` and `MESSAGE`.
        case journal
        /// A function, which may be called on any thread and must not call Eidetic.
        case custom(@Sendable (Level, Category, String) -> Void)
    }

    /// Sets the levels and the sink for the whole process; omitted categories are not logged.
    package static func configure(_ levels: [Category: Level], sink: Sink = .standardError) {
        configuration.withLock { $0 = Configuration(levels: levels, sink: sink) }
        highestLevel.store(levels.values.max()?.rawValue ?? 0, ordering: .relaxed)
    }

    /// Sets one level for all categories.
    package static func configure(_ level: Level, sink: Sink = .standardError) {
        configure(Dictionary(uniqueKeysWithValues: Category.allCases.map { ($0, level) }), sink: sink)
    }

    package static func includes(_ level: Level, category: Category) -> Bool {
        level.rawValue <= highestLevel.load(ordering: .relaxed)
            && level <= configuration.withLock { $0.levels[category] ?? .off }
    }

    package static func write(_ level: Level, category: Category, message: @autoclosure () -> String) {
        guard level.rawValue <= highestLevel.load(ordering: .relaxed) else { return }
        let current = configuration.withLock { $0 }
        guard level <= current.levels[category] ?? .off else { return }
        emit(message().withoutPasswords.printable, level: level, category: category, to: current.sink)
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

    /// Parses `info` or `fetch=debug,store=info`; unknown items are ignored.
    package static func parseLevels(_ text: String) -> [Category: Level] {
        let names: [String: Level] = [
            "off": .off, "error": .error, "warning": .warning, "info": .info, "debug": .debug,
        ]
        var levels: [Category: Level] = [:]
        for item in text.split(separator: ",") {
            let sides = item.split(separator: "=").map(String.init)
            if sides.count == 1, let level = names[sides[0]] {
                for category in Category.allCases { levels[category] = level }
            }
            if sides.count == 2, let category = Category(rawValue: sides[0]), let level = names[sides[1]] {
                levels[category] = level
            }
        }
        return levels
    }

    private static func emit(_ message: String, level: Level, category: Category, to sink: Sink) {
        switch sink {
        case .standardError:
            let line = "eidetic \(category.rawValue) \(level): \(message)\n"
            _ = line.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
        case .journal: SystemJournal.send(level: level, category: category, message: message)
        case .custom(let receive): receive(level, category, message)
        }
    }
}
