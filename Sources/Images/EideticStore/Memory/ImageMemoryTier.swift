public import EideticCore

/// An application's cache of decoded images, which an ``ImageMemoryCache`` searches after its own images.
///
/// It receives every inserted image, and decides itself which to keep; with a cost limit of zero for the
/// ``ImageMemoryCache`` it is the only cache. Its functions are called on any thread, several at a time, including the
/// main thread for synchronous look-ups. They must neither block nor call the cache.
public protocol ImageMemoryTier: AnyObject, Sendable {
    /// Returns the image for a key; `nil` if there is none, or it has expired.
    func image(for key: CacheKey) -> Image?
    /// Stores an image in place of an earlier one.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - key: The exact key of the image.
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

    package func contains(_ key: CacheKey) -> Bool { images.contains(key) || tier?.image(for: key) != nil }

    /// Returns whether an image that was evicted is still in use, so that it is found again.
    package func isInUse(_ key: CacheKey) -> Bool { images.isInUse(key) }

    package func remove(_ key: CacheKey) {
        images.remove(key)
        tier?.remove(key)
    }

    package func removeAll() {
        images.removeAll()
        tier?.removeAll()
    }
}
