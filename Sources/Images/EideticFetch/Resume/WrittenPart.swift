import EideticCore
import Glibc

/// The description of a part while it is being written, with which another process continues it if this one is killed.
///
/// It stands beside the file of the download, with the suffix `.eidetic-writing`. The writer has a lock of the part
/// (`flock`), which ends with its process. After another boot the part may lack bytes, and is not continued.
struct WrittenPart: Sendable, Equatable {
    /// The name of the part, in the directory of the file.
    let name: String
    let inode: UInt64
    let validator: String
    let totalLength: Int?
    private let boot: String
    private let salt: String
    private let digest: String

    static let suffix = ".eidetic-writing"
    /// The number of bytes after which a part is described.
    static let minimumSize = 1 << 20
    /// The largest size of a description.
    private static let sizeLimit = 16_384
    private static let magic = "eidetic-writing 1"

    /// Describes an open part.
    init(
        at path: String,
        file: borrowing FileDescriptor,
        request: FetchRequest,
        validator: String,
        totalLength: Int?,
        fileSystem: FileSystem
    ) throws(SystemError) {
        name = Self.name(of: path)
        inode = try fileSystem.status(of: file).inode
        (self.validator, self.totalLength) = (validator, totalLength)
        boot = BootIdentifier.current(fileSystem)
        salt = PartialFileStore.makeSalt()
        digest = PartialFileStore.digest(of: request, salt: salt)
    }

    private init?(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard lines.count == 9, lines[0] == Self.magic, lines[8].isEmpty, let inode = UInt64(lines[4]) else {
            return nil
        }
        (boot, salt, digest, self.inode) = (lines[1], lines[2], lines[3], inode)
        (name, validator, totalLength) = (lines[5], lines[6], Int(lines[7]))
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
    }

    private var text: String {
        let total = totalLength.map(String.init) ?? "-"
        return [Self.magic, boot, salt, digest, "\(inode)", name, validator, total, ""].joined(separator: "\n")
    }

    private static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// Writes the description beside the file at `path`.
    func write(beside path: String, with fileSystem: FileSystem) throws(SystemError) {
        let bytes = Array(text.utf8)
        // A name may contain a line break; the part is then not continued.
        guard bytes.count <= Self.sizeLimit, Self(bytes) == self else { return }
        try bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
            let buffer = UnsafeRawBufferPointer(bytes)
            try fileSystem.replaceContents(of: path + Self.suffix, with: buffer, mode: 0o600)
        }
    }

    /// Reads the description beside the file at `path`; `nil` if there is none of this user.
    static func read(beside path: String, with fileSystem: FileSystem) -> WrittenPart? {
        guard let file = try? fileSystem.open(path + suffix, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let status = try? fileSystem.status(of: file), status.kind == .regular, status.owner == geteuid(),
            let bytes = try? fileSystem.contents(of: file, limit: sizeLimit)
        else { return nil }
        return WrittenPart(bytes)
    }

    /// Removes the description beside the file at `path`, unless it is that of another part.
    func remove(beside path: String, with fileSystem: FileSystem) {
        if Self.read(beside: path, with: fileSystem) == self { try? fileSystem.unlink(path + Self.suffix) }
    }

    /// Returns a Boolean value indicating whether the part has bytes for a request, all of which were written.
    func fits(_ request: FetchRequest, fileSystem: FileSystem) -> Bool {
        boot == BootIdentifier.current(fileSystem) && digest == PartialFileStore.digest(of: request, salt: salt)
    }
}
