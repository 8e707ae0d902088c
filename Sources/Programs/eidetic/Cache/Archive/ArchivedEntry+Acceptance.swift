import Eidetic
import EideticCore
import EideticHTTP
import EideticStore

/// The rules of downloads for the entries of an archive, which may be anybody's.
extension ArchivedEntry {
    /// Throws the error of a download whose body is not an image, or is one beyond the limits of decoding.
    func checkImage(by policy: DecodePolicy) throws(EideticError) {
        do throws(EideticError) {
            _ = try policy.workingMemory(for: bytes)
        } catch {
            throw EideticError(error.code, message: "\(key): \(error.message)")
        }
    }

    /// Returns the metadata that a download at the time of storage, or now if that is to come, could have got.
    func downloadMetadata(maximumAge: Duration, now: Timestamp = SystemTime().now) -> DiskCache.Metadata {
        var allowed = metadata
        // An archive without a time of storage has zero.
        allowed.storageTime = metadata.storageTime.nanoseconds == 0 ? now : min(metadata.storageTime, now)
        allowed.expirationTime = metadata.expirationTime.map { min($0, allowed.storageTime + maximumAge) }
        allowed.importance = min(metadata.importance, .viewed)
        allowed.headers = Storability.storableFields(of: metadata.headers)
        return allowed
    }
}
