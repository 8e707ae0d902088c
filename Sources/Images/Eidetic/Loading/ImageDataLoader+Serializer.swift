import EideticCore
import EideticStore

/// The conversion between encoded images and the bytes on disk, by functions of the application.
extension ImageDataLoader {
    /// Returns an entry with its encoded image, which a thread for the conversion makes of the bytes on disk.
    func storedEntry(
        _ entry: DiskCache.Entry,
        isExpired: Bool = false,
        context: JobContext
    ) async throws(EideticError) -> StoredEntry {
        guard !serializer.isIdentity else { return StoredEntry(entry, isExpired: isExpired) }
        return try await serializerPool.run(in: context) { _ throws(EideticError) in
            try self.storedEntry(entry, isExpired: isExpired)
        }
    }

    /// Returns an entry with its encoded image, made by the calling thread.
    func storedEntry(_ entry: DiskCache.Entry, isExpired: Bool = false) throws(EideticError) -> StoredEntry {
        StoredEntry(entry, bytes: try serializer.decoded(entry).bytes, isExpired: isExpired)
    }

    /// Returns the bytes that the disk has for an encoded image.
    func serialized(_ bytes: [UInt8], for key: String) async throws(EideticError) -> [UInt8] {
        guard let encode = serializer.encode else { return bytes }
        return try await serializerPool.run { _ throws(EideticError) in try encode(nil, bytes, key) }
    }
}
