import EideticCore
import EideticHTTP
import Glibc

/// The part of a body in a file with a temporary name, which nobody else uses.
///
/// The file is removed with the instance, unless ``take()`` was called.
final class PartialFile: Sendable {
    let path: String
    let length: Int
    private let fileSystem: FileSystem
    private let taken = Guarded(false)

    init(path: String, length: Int, fileSystem: FileSystem) {
        (self.path, self.length, self.fileSystem) = (path, length, fileSystem)
    }

    deinit { discard() }

    var isTaken: Bool { taken.withLock { $0 } }

    /// Removes the file, unless it was taken; blocks.
    func discard() { if !isTaken { try? fileSystem.unlink(take()) } }

    /// Returns the path, whose file belongs to the caller from now on.
    @discardableResult
    func take() -> String {
        taken.withLock { $0 = true }
        return path
    }
}

/// The parts of bodies beside the files that they belong to.
///
/// A part has the name of its file and a suffix, mode 0600, and a trailer behind its bytes, which has the validator and
/// a digest of the request. To continue a part it is renamed, so that only one download has it. All functions block.
struct PartialFileStore: Sendable {
    let lifetime: Duration
    let fileSystem: FileSystem
    let time: any TimeSource

    static let suffix = ".eidetic-partial"
    /// The largest number of parts in a directory; the oldest are removed.
    static let countLimit = 16
    private static let magic = "eidetic-partial-file 1"
    /// The largest size of a trailer, and the number of digits at its end.
    private static let trailerLimit = 16_384
    private static let digitCount = 8

    /// Moves a part to its place beside the file at `path`.
    func insert(_ partialBody: PartialBody, of request: FetchRequest, for path: String) throws(SystemError) {
        guard let part = partialBody.file, !part.isTaken else { return }
        defer { part.discard() }
        guard part.length >= PartialBodyStore.minimumSize else { return }
        let file = try fileSystem.open(part.path, flags: O_WRONLY | O_NOFOLLOW)
        let permissions = try fileSystem.status(of: file).permissions
        try fileSystem.setPermissions(of: file, to: 0o600)
        let salt = Self.makeSalt()
        let lines = [
            Self.magic, salt, Self.digest(of: request, salt: salt), partialBody.validator,
            partialBody.totalLength.map(String.init) ?? "-", "\(part.length)", String(permissions, radix: 8), "",
        ]
        let text = Array(lines.joined(separator: "\n").utf8)
        guard text.count <= Self.trailerLimit - Self.digitCount else { return }
        let digits = String("\(100_000_000 + text.count)".dropFirst())
        try (text + Array(digits.utf8)).withUnsafeBufferPointer { bytes throws(SystemError) in
            try fileSystem.write(UnsafeRawBufferPointer(bytes), to: file, at: part.length)
        }
        // The name appears with the bytes, also after a loss of power.
        try fileSystem.synchronizeData(file)
        try fileSystem.rename(part.path, to: path + Self.suffix)
        part.take()
        removeOldParts(beside: path)
    }

    /// Removes and returns the part beside the file at `path`, or the one that a killed process has written; `nil` if
    /// there is none of this request.
    func remove(for path: String, of request: FetchRequest) -> PartialBody? {
        removeKept(for: path, of: request) ?? removeWritten(for: path, of: request)
    }

    /// Removes and returns the part of a process that was killed; one that a process still writes is left alone.
    private func removeWritten(for path: String, of request: FetchRequest) -> PartialBody? {
        guard let written = WrittenPart.read(beside: path, with: fileSystem) else { return nil }
        let (left, own) = ("\(Self.directory(of: path))\(written.name)", FileSystem.temporaryPath(for: path))
        guard let file = try? fileSystem.open(left, flags: O_WRONLY | O_NOFOLLOW | O_NONBLOCK),
            let status = try? fileSystem.status(of: file), status.kind == .regular, status.owner == geteuid(),
            status.linkCount == 1, status.inode == written.inode
        else {
            written.remove(beside: path, with: fileSystem)
            return nil
        }
        // The rename fails if another process was faster.
        guard (try? fileSystem.lock(file, operation: LOCK_EX | LOCK_NB)) != nil,
            (try? fileSystem.rename(left, to: own)) != nil
        else { return nil }
        written.remove(beside: path, with: fileSystem)
        let part = PartialFile(path: own, length: status.size, fileSystem: fileSystem)
        guard status.size > 0, time.now - status.modificationTime <= lifetime,
            written.totalLength.map({ $0 > status.size }) ?? true, written.fits(request, fileSystem: fileSystem)
        else { return nil }
        return PartialBody(file: part, validator: written.validator, totalLength: written.totalLength)
    }

    private static func directory(of path: String) -> Substring {
        path.lastIndex(of: "/").map { path[...$0] } ?? ""
    }

    private func removeKept(for path: String, of request: FetchRequest) -> PartialBody? {
        let (kept, own) = (path + Self.suffix, FileSystem.temporaryPath(for: path))
        // Others could have put something else there.
        guard let status = try? fileSystem.linkStatus(of: kept), status.kind == .regular, status.owner == geteuid(),
            (try? fileSystem.rename(kept, to: own)) != nil
        else { return nil }
        let unknown = PartialFile(path: own, length: 0, fileSystem: fileSystem)
        guard time.now - status.modificationTime <= lifetime, let body = try? read(own, of: request) else { return nil }
        unknown.take()
        return body
    }

    private func read(_ path: String, of request: FetchRequest) throws(SystemError) -> PartialBody? {
        let file = try fileSystem.open(path, flags: O_RDWR | O_NOFOLLOW)
        let status = try fileSystem.status(of: file)
        guard status.kind == .regular, status.owner == geteuid(), status.linkCount == 1, status.permissions == 0o600,
            let trailer = try trailer(of: file, size: status.size)
        else { return nil }
        guard trailer.count == 8, trailer[0] == Self.magic, trailer[2] == Self.digest(of: request, salt: trailer[1]),
            let length = Int(trailer[5]), length > 0, length < status.size,
            let permissions = UInt32(trailer[6], radix: 8),
            trailer.joined(separator: "\n").utf8.count + Self.digitCount == status.size - length
        else { return nil }
        let total = Int(trailer[4])
        guard total.map({ $0 > length }) ?? true else { return nil }
        try fileSystem.truncate(file, to: length)
        try fileSystem.setPermissions(of: file, to: permissions & 0o777)
        let part = PartialFile(path: path, length: length, fileSystem: fileSystem)
        return PartialBody(file: part, validator: trailer[3], totalLength: total)
    }

    /// Returns the lines at the end of a part.
    private func trailer(of file: borrowing FileDescriptor, size: Int) throws(SystemError) -> [String]? {
        let start = max(0, size - Self.trailerLimit)
        var end = [UInt8](repeating: 0, count: size - start)
        let count = try end.withUnsafeMutableBufferPointer { bytes throws(SystemError) in
            try fileSystem.read(file, at: start, into: UnsafeMutableRawBufferPointer(bytes))
        }
        guard count == end.count, let length = Int(String(decoding: end.suffix(Self.digitCount), as: UTF8.self)),
            (1...count).contains(length + Self.digitCount)
        else { return nil }
        let text = end.suffix(length + Self.digitCount).dropLast(Self.digitCount)
        return String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init
        )
    }

    static func makeSalt() -> String {
        String(UInt64.random(in: 0 ... .max), radix: 16) + String(UInt64.random(in: 0 ... .max), radix: 16)
    }

    static func digest(of request: FetchRequest, salt: String) -> String {
        Digest(hmacSHA256: Array(request.identityText.utf8), key: Array(salt.utf8)).hexadecimal
    }

    /// Removes the parts that have expired, and the oldest above the limit.
    private func removeOldParts(beside path: String) {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let parts = ((try? fileSystem.entryNames(in: directory)) ?? []).filter { $0.hasSuffix(Self.suffix) }
            .compactMap { name in
                (try? fileSystem.linkStatus(of: "\(directory)/\(name)")).map { (name, $0.modificationTime) }
            }.sorted { $0.1 > $1.1 }
        for (index, part) in parts.enumerated() where index >= Self.countLimit || time.now - part.1 > lifetime {
            try? fileSystem.unlink("\(directory)/\(part.0)")
        }
    }
}
