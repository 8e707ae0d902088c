public import EideticCore

/// A cache of decoded images in memory.
///
/// An image is stored under its exact key, and under a base key: that of the encoded bytes and of all options except
/// the size. A look-up returns the exact image, or a larger one with the same base key. An evicted image is still found
/// while its pixels are in use elsewhere, for example on the screen.
public final class ImageMemoryCache: Sendable {
    /// The behaviour of a cache when its application enters the background.
    public enum BackgroundBehavior: Sendable, Hashable {
        /// Nothing is removed.
        case keepAll
        /// Images are evicted until this fraction of their bytes is left, 0 to 1.
        case shrink(toFraction: Double)
        /// All images are evicted; those in use elsewhere are still found.
        case removeAll
    }

    /// The images by the keys of their decodes.
    public let images: MemoryCache<Image>

    /// The memory that must stay available when an image from disk is inserted.
    package let watermark: ByteCount

    /// The largest cost of one image.
    private let imageLimit: ByteCount
    /// The time to live of images that are inserted without one.
    private let defaultTimeToLive: Duration?
    private let decodedSizes = DecodedSizeIndex()
    private let availableMemory: AvailableMemory
    private let observations = Guarded<[Task<Void, Never>]>([])

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - costLimit: The largest number of bytes of pixels; by default (`nil`) 15 % of the memory that the process may
    ///     use, at most 512 MiB.
    ///   - countLimit: The largest number of images; no limit by default.
    ///   - imageLimit: The largest number of bytes of one image's pixels; a larger image is not kept. No limit but the
    ///     cost limit by default.
    ///   - timeToLive: The time after which an image is not found any more if it was inserted without such a time;
    ///     without end by default.
    ///   - watermark: The memory that must stay available when an image from disk is inserted; 64 MiB by default.
    ///   - hooks: The functions that are called when images are inserted and removed.
    public convenience init(
        costLimit: ByteCount? = nil,
        countLimit: Int = .max,
        imageLimit: ByteCount? = nil,
        timeToLive: Duration? = nil,
        watermark: ByteCount = .mebibytes(64),
        hooks: MemoryHooks<Image> = MemoryHooks()
    ) {
        self.init(
            costLimit: costLimit ?? MemoryLimits.standard,
            countLimit: countLimit,
            imageLimit: imageLimit,
            timeToLive: timeToLive,
            watermark: watermark,
            hooks: hooks,
            time: SystemTime()
        )
    }

    /// Creates an empty cache with a clock.
    package convenience init(
        costLimit: ByteCount,
        countLimit: Int = .max,
        imageLimit: ByteCount? = nil,
        timeToLive: Duration? = nil,
        watermark: ByteCount = .mebibytes(64),
        hooks: MemoryHooks<Image> = MemoryHooks(),
        time: any TimeSource
    ) {
        let images = MemoryCache<Image>(
            costLimit: costLimit,
            countLimit: countLimit,
            tracking: .images,
            hooks: hooks,
            time: time
        )
        self.init(
            images: images,
            imageLimit: imageLimit,
            timeToLive: timeToLive,
            watermark: watermark,
            availableMemory: AvailableMemory(time: time)
        )
    }

    package init(
        images: MemoryCache<Image>,
        imageLimit: ByteCount? = nil,
        timeToLive: Duration? = nil,
        watermark: ByteCount,
        availableMemory: AvailableMemory
    ) {
        self.images = images
        self.imageLimit = imageLimit ?? ByteCount(.max)
        defaultTimeToLive = timeToLive
        self.watermark = watermark
        self.availableMemory = availableMemory
    }

    deinit { observations.withLock { for observation in $0 { observation.cancel() } } }

    /// Returns the image of exactly this decode.
    ///
    /// - Complexity: O(1); no allocation.
    package func image(for key: CacheKey) -> Image? { images.value(for: key) }

    /// Returns the image of exactly this decode, if its pixels are decoded already.
    package func decodedImage(for key: CacheKey) -> Image? {
        guard let image = image(for: key), image.isDecoded else { return nil }
        return image
    }

    /// Returns the image of this decode, or of a larger decode of the same bytes.
    ///
    /// - Parameters:
    ///   - key: The key of the requested decode.
    ///   - base: The base key of the encoded image.
    ///   - size: The requested size; `nil` for the image's own.
    ///   - mode: The content mode with which the image is fitted to the size.
    /// - Returns: The smallest image that has all requested pixels. A vector image is returned for exactly this decode
    ///   only, since each size is drawn separately.
    package func image(for key: CacheKey, base: CacheKey, size: PixelSize?, mode: ContentMode = .fit) -> Image? {
        image(for: key) ?? largerImage(for: key, base: base, size: size, mode: mode)?.image
    }

    /// Returns the smallest other decode of the same bytes that is large enough, and the time until it expires.
    package func largerImage(
        for key: CacheKey,
        base: CacheKey,
        size: PixelSize?,
        mode: ContentMode
    ) -> (image: Image, timeToLive: Duration?)? {
        for entry in decodedSizes.entries(for: base) where entry.key != key && entry.covers(size, mode: mode) {
            // In this order: an evicted image that is still in use has a time again once it is found.
            if let image = images.value(for: entry.key) { return (image, images.timeToLive(of: entry.key)) }
            decodedSizes.remove(entry, for: base)
        }
        return nil
    }

    /// Returns the largest complete image with this base key, to be shown until a better one is loaded.
    package func largestImage(forBase base: CacheKey) -> Image? {
        for entry in decodedSizes.entries(for: base).reversed() where !entry.isCropped {
            if let image = image(for: entry.key) { return image }
            decodedSizes.remove(entry, for: base)
        }
        return nil
    }

    /// Removes every image with this base key, for example because the encoded bytes have changed.
    package func removeAll(forBase base: CacheKey) { removeAll(forBase: base) { _ in true } }

    /// Removes the images with this base key for which `shouldRemove` returns `true`.
    ///
    /// - Parameters:
    ///   - base: The base key of the encoded image.
    ///   - shouldRemove: The condition. Its argument is `nil` for an image that is not in the cache itself.
    package func removeAll(forBase base: CacheKey, where shouldRemove: (Image?) -> Bool) {
        for entry in decodedSizes.entries(for: base) where shouldRemove(images.peek(entry.key)) {
            images.remove(entry.key)
            decodedSizes.remove(entry, for: base)
        }
    }

    /// Inserts an image under the key of its decode, and makes it available to smaller decodes with the same base key.
    ///
    /// A partial or cropped image is found by its own key only; a cropped one is removed with its base key.
    package func insert(
        _ image: Image,
        for key: CacheKey,
        base: CacheKey? = nil,
        isCropped: Bool = false,
        timeToLive: Duration? = nil
    ) {
        let timeToLive = timeToLive ?? defaultTimeToLive
        if image.cost <= imageLimit {
            images.insert(image, for: key, cost: image.cost, timeToLive: timeToLive)
        } else {
            images.remove(key)
        }
        guard let base, !image.isPartial else { return }
        let entry = DecodedSizeIndex.Entry(
            key: key,
            size: image.size,
            sourceSize: image.sourceSize,
            isVector: image.format == .svg,
            isCropped: isCropped
        )
        decodedSizes.insert(entry, for: base) { images.contains($0) }
    }

    /// Inserts an image that was read from disk.
    ///
    /// While less memory than the watermark is available, other images are evicted first: as many bytes as are missing,
    /// and at least as many as the new image has, so that the process does not grow.
    package func insertFromDisk(
        _ image: Image,
        for key: CacheKey,
        base: CacheKey? = nil,
        isCropped: Bool = false,
        timeToLive: Duration? = nil
    ) {
        let shortfall = watermark.bytes + image.cost.bytes - availableMemory.bytes
        if shortfall > 0 {
            let bytesToFree = max(shortfall, image.cost.bytes)
            images.trim(toCost: ByteCount(max(0, images.totalCost.bytes - bytesToFree)))
        }
        insert(image, for: key, base: base, isCropped: isCropped, timeToLive: timeToLive)
    }

    /// Shrinks the cache from now on when memory is short and when the application enters the background.
    ///
    /// Observation ends with the environment's streams, or when the cache is released.
    ///
    /// - Parameters:
    ///   - environment: The application's phases and its memory pressure.
    ///   - behavior: The behaviour when the application enters the background; all images are evicted by default.
    package func observe(
        _ environment: any ApplicationEnvironment,
        backgroundBehavior behavior: BackgroundBehavior = .removeAll
    ) {
        let (phases, pressures) = (environment.phases, environment.memoryPressure)
        let tasks = [
            Task { [weak self] in
                for await phase in phases where phase == .background { self?.enterBackground(behavior: behavior) }
            },
            Task { [weak self] in for await pressure in pressures { self?.images.respond(to: pressure) } },
        ]
        observations.withLock { $0 += tasks }
    }

    /// Evicts images as `behavior` requires when the application enters the background.
    package func enterBackground(behavior: BackgroundBehavior = .removeAll) {
        switch behavior {
        case .keepAll: break
        case .shrink(let fraction): images.shrink(toFraction: fraction)
        case .removeAll: images.shrink(toFraction: 0)
        }
    }
}
