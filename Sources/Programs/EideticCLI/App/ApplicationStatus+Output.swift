import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

extension ApplicationStatus {
    var line: String {
        let remaining = backgroundTimeRemaining.map { TimeFormat.seconds($0) } ?? "-"
        let columns = [
            Columns.left(TerminalText.sanitized(identifier), width: 24), Columns.left("\(state)", width: 22),
            Columns.left(freezer.name, width: 8), Columns.right(process.map { "\($0)" } ?? "-", width: 8),
            Columns.right("\(openTasks) tasks", width: 9), Columns.right(remaining, width: 8),
            Columns.right(ByteCount(clamping: residentMemory).description, width: 9),
        ]
        return columns.joined(separator: "  ")
    }

    /// The file with a snapshot of its window, and the age of that, in one line; `nil` without a snapshot.
    var snapshotLine: String? {
        guard let snapshotPath, let status = try? FileSystem().status(of: snapshotPath) else { return nil }
        let seconds = max(0, time(nil) - Int(status.modificationTime.seconds))
        let name = Columns.left(TerminalText.sanitized(identifier), width: 24)
        return "\(name)  \(Columns.right("\(seconds) s ago", width: 12))  \(TerminalText.sanitized(snapshotPath))"
    }

    /// The status as a JSON object; times are in seconds.
    var json: JSON {
        .object([
            ("identifier", .string(identifier)),
            ("state", .string("\(state)")),
            ("process", .optional(process.map(Int.init))),
            ("freezer", .string(freezer.name)),
            ("openTasks", .integer(Int(openTasks))),
            ("backgroundTimeRemaining", backgroundTimeRemaining.map { .number($0.inSeconds) } ?? .null),
            ("suspensionCount", .integer(Int(clamping: suspensionCount))),
            ("suspendedTime", .number(suspendedTime.inSeconds)),
            ("residentMemory", .integer(Int(clamping: residentMemory))),
            ("wasForceQuit", .bool(wasForceQuit)),
            ("lastExit", .optional(lastExit)),
            ("snapshot", .optional(snapshotPath)),
        ])
    }
}

extension ApplicationStatus.Freezer {
    /// The name that `eidetic app list` prints.
    fileprivate var name: String {
        switch self {
        case .none: "-"
        case .controlGroup: "cgroup2"
        case .signal: "sigstop"
        }
    }
}

extension TimeFormat {
    /// Returns a duration such as "12.3 s".
    fileprivate static func seconds(_ duration: Duration) -> String {
        let tenths = Int(duration.inMilliseconds / 100)
        return "\(tenths / 10).\(tenths % 10) s"
    }
}

extension ByteCount {
    /// Creates a number of bytes from one that may exceed the range.
    fileprivate init(clamping bytes: UInt64) { self.init(Int(clamping: bytes)) }
}
