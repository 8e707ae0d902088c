import EideticCore
import Glibc

/// Notices that files changed, by watching their directories: a file may be replaced, removed and made again.
struct FileChangeSource: NoticeSource {
    /// A file, and whose news its change is.
    struct Target: Sendable {
        let directory: String
        let file: String
        let name: Notice.Name
        let object: String

        init(path: String, name: Notice.Name, object: String) {
            let cut = path.lastIndex(of: "/")
            directory = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            file = cut.map { String(path[path.index(after: $0)...]) } ?? path
            (self.name, self.object) = (name, object)
        }

        var path: String { "\(directory)/\(file)" }
    }

    let descriptor: Int32
    private var targets: [Int32: [Target]] = [:]

    private static let eventMask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE

    /// `nil` where none of the directories can be watched.
    init?(targets wanted: [Target]) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        if descriptor < 0 { return nil }
        for target in wanted {
            let number = inotify_add_watch(descriptor, target.directory, UInt32(Self.eventMask))
            if number >= 0 {
                targets[number, default: []].append(target)
            } else {
                Log.write(
                    .info,
                    category: .background,
                    message: "\(target.path) is not watched: \(SystemError.message(for: errno))"
                )
            }
        }
        if targets.isEmpty {
            close(descriptor)
            return nil
        }
    }

    /// One notice for each name and object, however often its files changed since the last look.
    mutating func read() -> [Notice] {
        var news: [Notice] = []
        for target in changedTargets() {
            let notice = Notice(target.name, object: target.object, payload: Self.payload(for: target))
            news.removeAll { $0.name == notice.name && $0.object == notice.object }
            news.append(notice)
        }
        return news
    }

    private func changedTargets() -> [Target] {
        var changed: [Target] = []
        var bytes = [UInt8](repeating: 0, count: 1 << 14)
        while case let count = Glibc.read(descriptor, &bytes, bytes.count), count > 0 {
            bytes.withUnsafeBytes { changed += targets(in: $0.prefix(count)) }
        }
        return changed
    }

    /// Reads the kernel's records: number of the watch, mask, cookie, length of the name, name.
    private func targets(in buffer: Slice<UnsafeRawBufferPointer>) -> [Target] {
        var found: [Target] = []
        var rest = UnsafeRawBufferPointer(rebasing: buffer)
        while rest.count >= 16 {
            let number = rest.loadUnaligned(as: Int32.self)
            let mask = rest.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
            let length = min(Int(rest.loadUnaligned(fromByteOffset: 12, as: UInt32.self)), rest.count - 16)
            let name = String(decoding: rest[16..<16 + length].prefix { $0 != 0 }, as: UTF8.self)
            // More happened than the kernel keeps: anything may have changed.
            if mask & UInt32(IN_Q_OVERFLOW) != 0 { found += targets.values.joined() }
            found += (targets[number] ?? []).filter { $0.file == name && Self.isComplete(mask, target: $0) }
            rest = UnsafeRawBufferPointer(rebasing: rest[(16 + length)...])
        }
        return found
    }

    /// A file that is made is told when it has been written; a link is complete at once.
    private static func isComplete(_ mask: UInt32, target: Target) -> Bool {
        guard mask & UInt32(IN_CREATE) != 0 else { return true }
        var status = stat()
        return lstat(target.path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// The name of the time zone, from where the link leads, as systemd keeps it.
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
