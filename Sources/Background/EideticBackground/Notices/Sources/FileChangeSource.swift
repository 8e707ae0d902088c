import EideticCore
import Glibc

/// A source of notices that files changed.
///
/// It watches their directories, because a file may be replaced, or removed and created again.
struct FileChangeSource: NoticeSource {
    /// A file, with the notice that its change posts.
    struct Target: Sendable {
        let directory: String
        let file: String
        let name: Notice.Name
        let object: String

        init(path: String, name: Notice.Name, object: String) {
            directory = path.parentPath.map { $0.isEmpty ? "/" : $0 } ?? "."
            file = String(path.fileName)
            self.name = name
            self.object = object
        }

        var path: String { "\(directory)/\(file)" }
    }

    let descriptor: Int32
    private var targetsByWatch: [Int32: [Target]] = [:]

    private static let eventMask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE

    /// Watches the directories of the targets; `nil` if none can be watched.
    init?(targets: [Target]) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        if descriptor < 0 { return nil }
        for target in targets {
            let number = inotify_add_watch(descriptor, target.directory, UInt32(Self.eventMask))
            if number >= 0 {
                targetsByWatch[number, default: []].append(target)
            } else {
                Log.write(
                    .info,
                    category: .background,
                    message: "cannot watch \(target.path): \(SystemError.message(for: errno))"
                )
            }
        }
        if targetsByWatch.isEmpty {
            close(descriptor)
            return nil
        }
    }

    /// Returns one notice per name and object, however often its files changed since the last call.
    mutating func read() -> [Notice] {
        var notices: [Notice] = []
        for target in changedTargets() {
            let notice = Notice(target.name, object: target.object, payload: Self.payload(for: target))
            notices.removeAll { $0.name == notice.name && $0.object == notice.object }
            notices.append(notice)
        }
        return notices
    }

    private func changedTargets() -> [Target] {
        var changed: [Target] = []
        var bytes = [UInt8](repeating: 0, count: 1 << 14)
        while case let count = Glibc.read(descriptor, &bytes, bytes.count), count > 0 {
            bytes.withUnsafeBytes { changed += targets(in: $0.prefix(count)) }
        }
        return changed
    }

    /// Parses the kernel's records: watch number, mask, cookie, name length, name.
    private func targets(in buffer: Slice<UnsafeRawBufferPointer>) -> [Target] {
        var found: [Target] = []
        var remainder = UnsafeRawBufferPointer(rebasing: buffer)
        while remainder.count >= 16 {
            let number = remainder.loadUnaligned(as: Int32.self)
            let mask = remainder.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
            let length = min(Int(remainder.loadUnaligned(fromByteOffset: 12, as: UInt32.self)), remainder.count - 16)
            let name = String(decoding: remainder[16..<16 + length].prefix { $0 != 0 }, as: UTF8.self)
            // The kernel's queue overflowed: any file may have changed.
            if mask & UInt32(IN_Q_OVERFLOW) != 0 { found += targetsByWatch.values.joined() }
            found += (targetsByWatch[number] ?? []).filter { $0.file == name && Self.isComplete(mask, target: $0) }
            remainder = UnsafeRawBufferPointer(rebasing: remainder[(16 + length)...])
        }
        return found
    }

    /// Returns `true` if the change is complete: a new file is reported when it has been written, a new link at once.
    private static func isComplete(_ mask: UInt32, target: Target) -> Bool {
        guard mask & UInt32(IN_CREATE) != 0 else { return true }
        var status = stat()
        return lstat(target.path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Returns the time zone's identifier, from the target of the link that systemd maintains.
    private static func payload(for target: Target) -> [String: String] {
        guard target.name == .timeZoneChanged else { return [:] }
        var bytes = [CChar](repeating: 0, count: 1_024)
        let count = readlink("\(target.directory)/localtime", &bytes, bytes.count)
        let path = String(decoding: bytes.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard let start = parts.firstIndex(of: "zoneinfo") else { return [:] }
        return ["identifier": parts[(start + 1)...].joined(separator: "/")]
    }
}
