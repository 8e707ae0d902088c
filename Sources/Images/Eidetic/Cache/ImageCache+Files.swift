public import EideticCore
import EideticStore

extension ImageCache {
    /// Writes the encoded bytes of a resource on disk to a separate file, for programs that need a path.
    ///
    /// The file at ``path(for:)`` ends with data of the cache, has no extension, and may be evicted. The new file has
    /// only the encoded bytes, and the extension of their format. It belongs to the caller, who must remove it. Its
    /// name depends only on the key; an existing file is replaced atomically.
    ///
    /// - Parameters:
    ///   - key: The image's key; its rendering is ignored.
    ///   - directory: The path of the directory; it is created with mode 0700 if it is missing.
    /// - Returns: The path of the file; `nil` if the disk does not have the resource.
    /// - Throws: The errors of reading and writing, and `cancelled`.
    nonisolated(nonsending) public func writeFile(
        for key: Key,
        to directory: String
    ) async throws(EideticError) -> String? {
        guard let disk else { return nil }
        let (text, serializer) = (resolved(key).text, stored.serializer)
        return try await disk.lookup.load { lookup throws(EideticError) in
            guard let entry = try lookup.read(text) else { return nil }
            let bytes = try serializer.decoded(entry).bytes
            var path = "\(directory)/\(disk.path(for: text).split(separator: "/").last ?? "")"
            if case .format(let format) = ImageFormat.detect(in: bytes, isComplete: true) {
                path += ".\(format.fileExtension)"
            }
            let files = FileSystem()
            do throws(SystemError) {
                try files.makeDirectories(directory)
                try bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
                    try files.replaceContents(of: path, with: UnsafeRawBufferPointer(bytes))
                }
                return path
            } catch {
                throw EideticError(error)
            }
        }
    }
}
