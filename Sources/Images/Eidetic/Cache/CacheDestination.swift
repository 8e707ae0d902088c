import EideticCore
import EideticStore

/// The place of an image that an application stores: its key in memory, and its entry on disk.
struct CacheDestination: Sendable {
    /// The key of the image with the size that it has.
    let key: ImageCache.Key
    /// The key of the disk entry.
    let diskKey: String
    /// The metadata of the disk entry.
    let metadata: DiskCache.Metadata

    /// Decides the place of an image.
    ///
    /// One that is smaller than its resource never takes the resource's place: it has a key with its own size.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - key: The key that the application names.
    ///   - hasBytes: A Boolean value indicating whether the bytes of the resource are stored, and not the image.
    ///   - metadata: The metadata of the disk entry.
    /// - Throws: `invalidArgument` for a partial image, and for one whose size alone does not tell what it is.
    init(
        of image: Image,
        for key: ImageCache.Key,
        hasBytes: Bool,
        metadata: DiskCache.Metadata
    ) throws(EideticError) {
        guard !image.isPartial else {
            throw EideticError(.invalidArgument, message: "\(key.text): a partial image cannot be stored")
        }
        var key = key
        var metadata = metadata
        if key.rendering.size == nil, key.rendering.transform == nil, image.isDownscaled {
            guard image.hasSourceProportions else {
                let reason = "a cropped or transformed image needs a key with its rendering"
                throw EideticError(.invalidArgument, message: "\(key.text): \(reason)")
            }
            var rendering = key.rendering
            rendering.size = image.size
            key = key.with(rendering: rendering)
        }
        if !hasBytes, !key.isFullImage { metadata.kind = .derived }
        self.key = key
        diskKey = hasBytes ? key.text : key.renditionText
        self.metadata = metadata
    }
}
