public import EideticCore
import Glibc

/// A directory of pictures that is only read: delivered with an application, or left by a cache of the SDWebImage family.
///
/// A picture's file is named after the MD5 of its key and the extension of the key's path
/// (`5d41402abc4b2a76b9719d911017c592.png`). It is looked for with the extension, then without. Such files hold
/// neither key nor checksum, so their bytes must be decoded with the usual limits. Nothing is ever written or removed.
public struct ImageBundle: Sendable, Hashable {
    /// The longest file name that Linux's file systems take, in bytes.
    private static let nameLimit = 255

    /// Larger files are taken for none: 256 MiB, as much as a decoder takes by default.
    public static let sizeLimit = ByteCount.mebibytes(256)

    /// The directory, as an absolute path.
    public let directory: String

    /// Creates a bundle; the directory need not be there.
    public init(directory: String) { self.directory = directory }

    /// The bundle that SDWebImage keeps for a namespace, below the directory in which it keeps all.
    public static func sdWebImage(in directory: String, namespace: String = "default") -> ImageBundle {
        ImageBundle(directory: "\(directory)/com.hackemist.SDWebImageCache.\(namespace)")
    }

    /// The files in which a key's picture may be, in the order in which they are tried.
    ///
    /// None for an empty key.
    public func paths(for key: String) -> [String] {
        guard !key.isEmpty, !key.utf8.contains(0) else { return [] }
        let digest = MD5.hexadecimal(Array(key.utf8))
        let basePath = "\(directory)/\(digest)"
        let fileExtension = Self.fileExtension(of: key)
        // An extension that makes the name too long is left out.
        guard !fileExtension.isEmpty, digest.utf8.count + 1 + fileExtension.utf8.count <= Self.nameLimit else {
            return [basePath]
        }
        return ["\(basePath).\(fileExtension)", basePath]
    }

    /// The bytes of a key's picture; `nil` where there is none; blocks on file work.
    public func read(_ key: String) throws(EideticError) -> [UInt8]? { try read(key, using: FileSystem()) }

    func read(_ key: String, using files: FileSystem) throws(EideticError) -> [UInt8]? {
        for path in paths(for: key) {
            do throws(SystemError) {
                let file = try files.open(path, flags: O_RDONLY | O_NONBLOCK)
                let status = try files.status(of: file)
                guard status.kind == .regular, status.size <= Self.sizeLimit.bytes else { continue }
                return try files.bytes(of: file, count: status.size)
            } catch {
                guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw EideticError(error) }
            }
        }
        return nil
    }

    /// The file of a key's picture; `nil` where there is none; blocks on file work.
    public func path(for key: String) throws(EideticError) -> String? { try path(for: key, using: FileSystem()) }

    func path(for key: String, using files: FileSystem) throws(EideticError) -> String? {
        for path in paths(for: key) {
            do throws(SystemError) {
                let status = try files.status(of: path)
                if status.kind == .regular, status.size <= Self.sizeLimit.bytes { return path }
            } catch {
                guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw EideticError(error) }
            }
        }
        return nil
    }

    /// The extension of a URL's path, or of the whole text where it is no URL.
    static func fileExtension(of key: String) -> String {
        let isURL = key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"\"<>\\^`{|}".utf8.contains($0) }
        let path = isURL ? key.prefix { $0 != "?" && $0 != "#" } : key[...]
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return "" }
        return String(name[name.index(after: dot)...])
    }
}
