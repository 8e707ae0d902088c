import EideticCore
import Glibc

/// The latest launches, ends and refusals of all applications, in memory and in a file.
final class ActivityLog {
    private struct Entry {
        let identifier: String
        let line: String
    }

    private static let capacity = 200
    /// The number of lines of one application that displace those of others.
    private static let share = 50
    /// The greatest length of a line in bytes.
    private static let maximumLineLength = 3_000

    private var entries: [Entry] = []
    private let directory: RuntimeDirectory
    private var isChanged = false
    /// The number of lines that this supervisor has added.
    private(set) var lineCount: UInt64 = 0

    /// Reads the lines of an earlier supervisor.
    init(directory: RuntimeDirectory) {
        self.directory = directory
        let text = String(decoding: directory.contents(of: directory.logPath) ?? [], as: UTF8.self)
        for line in text.split(separator: "\n").suffix(Self.capacity) {
            let fields = line.split(separator: " ", maxSplits: 2)
            if fields.count == 3 { entries.append(Entry(identifier: String(fields[1]), line: String(line))) }
        }
    }

    /// Adds a line: the time of day in UTC, the application and the text.
    func append(_ text: String, for identifier: String) {
        let clean = text.utf8.prefix(Self.maximumLineLength).map { $0 < 0x20 || $0 == 0x7f ? UInt8(ascii: "?") : $0 }
        let line = "\(Self.timeOfDay) \(identifier) \(String(decoding: clean, as: UTF8.self))"
        entries.append(Entry(identifier: identifier, line: line))
        makeRoom(after: identifier)
        isChanged = true
        lineCount &+= 1
        Log.write(.info, category: .background, message: "\(identifier): \(text)")
    }

    /// Removes the oldest line; one of the application itself if it has more than its share.
    private func makeRoom(after identifier: String) {
        guard entries.count > Self.capacity else { return }
        let own = entries.indices.filter { entries[$0].identifier == identifier }
        entries.remove(at: own.count > Self.share ? own[0] : 0)
    }

    /// Returns the latest lines, of one application or of all, the oldest first.
    func lines(of identifier: String?, count: Int) -> [String] {
        entries.filter { identifier == nil || $0.identifier == identifier }.suffix(max(0, count)).map(\.line)
    }

    /// Writes the file if there are new lines.
    func save() {
        guard isChanged else { return }
        isChanged = false
        let text = entries.map { $0.line + "\n" }.joined()
        do throws(SystemError) {
            try directory.replace(directory.logPath, with: Array(text.utf8))
        } catch {
            Log.write(.error, category: .background, message: "cannot save the log: \(error)")
        }
    }

    private static var timeOfDay: String {
        var seconds = time(nil)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return [
            "\(1_900 + parts.tm_year)-", digits(parts.tm_mon + 1), "-", digits(parts.tm_mday), "T",
            digits(parts.tm_hour), ":", digits(parts.tm_min), ":", digits(parts.tm_sec), "Z",
        ].joined()
    }

    private static func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
