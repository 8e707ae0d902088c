package import EideticCore
import Glibc

/// A read-only directory of images: part of an application, or an SDWebImage cache.
///
/// The name of an image's file is the MD5 of its key, with the extension of the key's path
/// (`5d41402abc4b2a76b9719d911017c592.png`). It is searched with the extension, then without. Such files contain
/// neither key nor checksum, so they must be decoded with the usual limits. Nothing is ever written or removed.
public struct ImageBundle: Sendable, Hashable {
    /// The longest file name of Linux's file systems, in bytes.
    private static let nameLimit = 255

    /// The largest file that is read: 256 MiB, the default limit of the decoders.
    package static let sizeLimit = ByteCount.mebibytes(256)

    /// The absolute path of the directory.
    package let directory: String

    /// Creates a bundle.
    ///
    /// The directory need not exist.
    public init(directory: String) { self.directory = directory }

    /// Returns the bundle that SDWebImage uses for a namespace, below the root directory of its caches.
    public static func sdWebImage(in directory: String, namespace: String = "default") -> ImageBundle {
        ImageBundle(directory: "\(directory)/com.hackemist.SDWebImageCache.\(namespace)")
    }

    /// Returns the paths at which a key's image is searched, in order.
    ///
    /// The result is empty for an empty key.
    package func paths(for key: String) -> [String] {
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

    /// Reads the bytes of a key's image, or returns `nil` if there is none.
    ///
    /// Blocks on file access.
    package func read(_ key: String) throws(EideticError) -> [UInt8]? { try read(key, using: FileSystem()) }

    func read(_ key: String, using files: FileSystem) throws(EideticError) -> [UInt8]? {
        try first(for: key) { path throws(SystemError) in
            let file = try files.open(path, flags: O_RDONLY | O_NONBLOCK)
            let status = try files.status(of: file)
            return Self.isImage(status) ? try files.bytes(of: file, count: status.size) : nil
        }
    }

    /// Returns the path of a key's image, or `nil` if there is none.
    func path(for key: String, using files: FileSystem) throws(EideticError) -> String? {
        try first(for: key) { path throws(SystemError) in
            Self.isImage(try files.status(of: path)) ? path : nil
        }
    }

    private static func isImage(_ status: FileStatus) -> Bool {
        status.kind == .regular && status.size <= sizeLimit.bytes
    }

    /// Returns the first result for the paths of a key; a path without a file has none.
    private func first<Result>(
        for key: String,
        body: (String) throws(SystemError) -> Result?
    ) throws(EideticError) -> Result? {
        for path in paths(for: key) {
            do throws(SystemError) {
                if let result = try body(path) { return result }
            } catch {
                guard EntryReader.absenceErrors.contains(error.errorNumber) else { throw EideticError(error) }
            }
        }
        return nil
    }

    /// Returns the extension of a URL's path, or of the whole text if it is not a URL.
    static func fileExtension(of key: String) -> String {
        let isURL = key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"\"<>\\^`{|}".utf8.contains($0) }
        let path = isURL ? key.prefix { $0 != "?" && $0 != "#" } : key[...]
        let name = path.pathParts.last { !$0.isEmpty } ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return "" }
        return String(name[name.index(after: dot)...])
    }
}
