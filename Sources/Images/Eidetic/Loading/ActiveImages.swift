import EideticCore

/// The encoded images that loads hold, or that are being written to disk, by data key.
///
/// A load that starts before the bytes are on disk finds them here, and needs no network. From then on the disk cache
/// responds instead, because it also limits the time for which the bytes are fresh.
final class ActiveImages: Sendable {
    private struct WeakImage { weak var value: EncodedImage? }

    private let images = Guarded<[ImageRequest.DataKey: WeakImage]>([:])

    /// The number of images that are being written to disk.
    var storingCount: Int { images.withLock { $0.values.count { $0.value?.isStoring == true } } }

    /// The image for `key`, unless it is on disk.
    subscript(key: ImageRequest.DataKey) -> EncodedImage? {
        let image = images.withLock { $0[key]?.value }
        return image?.isStored == true ? nil : image
    }

    /// Inserts an image; every 256th time those that were released are removed.
    func insert(_ image: EncodedImage, for key: ImageRequest.DataKey) {
        images.withLock { images in
            images[key] = WeakImage(value: image)
            if images.count.isMultiple(of: 256) { images = images.filter { $0.value.value != nil } }
        }
    }

    /// Removes `image`, unless another one has taken its place.
    func remove(_ image: EncodedImage, for key: ImageRequest.DataKey) {
        images.withLock { images in
            if images[key]?.value === image { images[key] = nil }
        }
    }
}
