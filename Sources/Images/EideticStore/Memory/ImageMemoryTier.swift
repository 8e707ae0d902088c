public import EideticCore

/// A cache of decoded images that an ``ImageMemoryCache`` searches after its own images: a class of the application.
///
/// It gets each image that is inserted, and keeps what it likes by its own rules; with a cost limit of zero for the
/// cache before it, it decides alone. Its functions are called on any thread, also on the main one for an image that is
/// to be shown at once, several at a time, and must neither block nor call the cache.
public protocol ImageMemoryTier: AnyObject, Sendable {
    /// Returns the image for a key; `nil` if there is none, or its time is over.
    func image(for key: CacheKey) -> Image?
    /// Stores an image in place of an earlier one.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - key: The key of its decode.
    ///   - timeToLive: The time after which it must not be returned any more; `nil` without a limit.
    func insert(_ image: Image, for key: CacheKey, timeToLive: Duration?)
    /// Removes an image; it must not be returned any more.
    func remove(_ key: CacheKey)
    /// Removes all images.
    func removeAll()
}

// MARK: Images by key, in the cache and in its tier
extension ImageMemoryCache {
    /// Returns the image of exactly this decode.
    ///
    /// - Complexity: O(1); no allocation.
    package func image(for key: CacheKey) -> Image? { images.value(for: key) ?? tier?.image(for: key) }

    /// Returns the image without counting a use.
    package func peek(_ key: CacheKey) -> Image? { images.peek(key) ?? tier?.image(for: key) }

    /// Returns whether there is an image.
    package func contains(_ key: CacheKey) -> Bool { images.contains(key) || tier?.image(for: key) != nil }

    /// Returns whether an image that was evicted is still in use, so that it is found again.
    package func isInUse(_ key: CacheKey) -> Bool { images.isInUse(key) }

    /// Removes an image.
    package func remove(_ key: CacheKey) {
        images.remove(key)
        tier?.remove(key)
    }

    /// Removes all images.
    package func removeAll() {
        images.removeAll()
        tier?.removeAll()
    }
}
