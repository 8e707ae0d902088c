import EideticCodecs
import EideticCore
import EideticHTTP
import EideticStore

/// An entry on disk with its encoded image.
struct StoredEntry: Sendable {
    /// The entry with the bytes on disk.
    let entry: DiskCache.Entry
    /// The encoded image.
    let bytes: [UInt8]
    /// A Boolean value indicating whether the entry is older than the disk cache's maximum age.
    let isExpired: Bool

    /// Creates the stored entry; without `bytes` those on disk are the encoded image.
    init(_ entry: DiskCache.Entry, bytes: [UInt8]? = nil, isExpired: Bool = false) {
        self.entry = entry
        self.bytes = bytes ?? entry.bytes
        self.isExpired = isExpired
    }

    var record: ResponseRecord { entry.metadata.response }

    var fields: [HTTPField] { entry.metadata.headers }

    /// The response as a cache sees it.
    var response: ResponseFreshness.Response { entry.metadata.storedResponse }
}

extension ResponseRecord {
    /// The placeholder of the image; `nil` if none was made.
    var imagePlaceholder: ImagePlaceholder? {
        get { ImagePlaceholder(word: placeholder) }
        set { placeholder = newValue?.word ?? "" }
    }
}
