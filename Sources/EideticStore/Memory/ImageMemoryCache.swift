public import EideticCore

/// Decoded pictures in memory: found by their own key, by any larger decode, and as long as somebody shows them.
///
/// A picture is put in under the key of the decode that made it, and under the base key of what it was decoded from:
/// the identity of its bytes and of all options but the size.
public final class ImageMemoryCache: Sendable {
    /// What happens when the application goes into the background.
    public enum BackgroundBehavior: Sendable, Hashable {
        /// Nothing.
        case keepAll
        /// All but a part goes, 0 to 1.
        case shrink(toFraction: Double)
        /// Everything goes; what is shown is found again all the same.
        case removeAll
    }

    /// The pictures by the keys of their decodes.
    public let images: MemoryCache<Image>

    /// So much memory must stay available when a picture from disk is put in.
    public let watermark: ByteCount

    private let decodedSizes = DecodedSizeIndex()
    private let availableMemory: AvailableMemory

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - costLimit: The most bytes of pixels; ``MemoryLimits/standard`` by default.
    ///   - countLimit: The most pictures; no limit by default.
    ///   - eviction: Which picture goes first when there is no room.
    ///   - watermark: So much memory must stay available; 64 MiB by default.
    ///   - hooks: Who is told of what comes and goes.
    ///   - time: Where entries with a time to live get the time from.
    public convenience init(
        costLimit: ByteCount = MemoryLimits.standard,
        countLimit: Int = .max,
        eviction: EvictionRule = .mostBytes,
        watermark: ByteCount = .mebibytes(64),
        hooks: MemoryHooks<Image> = MemoryHooks(),
        time: any TimeSource = SystemTime()
    ) {
        let images = MemoryCache<Image>(
            costLimit: costLimit,
            countLimit: countLimit,
            eviction: eviction,
            tracking: .images,
            hooks: hooks,
            time: time
        )
        self.init(images: images, watermark: watermark, availableMemory: AvailableMemory(time: time))
    }

    package init(images pictures: MemoryCache<Image>, watermark: ByteCount, availableMemory: AvailableMemory) {
        self.images = pictures
        self.watermark = watermark
        self.availableMemory = availableMemory
    }

    /// The picture of exactly this decode.
    ///
    /// - Complexity: O(1); no allocation.
    public func image(for key: CacheKey) -> Image? { images.value(for: key) }

    /// The picture of exactly this decode, unless its pixels are still to be made.
    package func decodedImage(for key: CacheKey) -> Image? {
        guard let image = images.value(for: key), image.isDecoded else { return nil }
        return image
    }

    /// The picture of this decode, or of a larger one of the same bytes.
    ///
    /// - Parameters:
    ///   - key: The decode that is wanted.
    ///   - base: What is decoded.
    ///   - size: The size that is wanted; `nil` for the picture's own.
    ///   - mode: How the picture is fitted to the size.
    /// - Returns: The smallest of those that have all pixels that are wanted; of a vector picture this decode alone, since
    ///   each size is drawn for itself.
    public func image(for key: CacheKey, base: CacheKey, size: PixelSize?, mode: ContentMode = .fit) -> Image? {
        if let image = images.value(for: key) { return image }
        for entry in decodedSizes.entries(for: base) where entry.key != key && entry.covers(size, mode: mode) {
            if let image = images.value(for: entry.key) { return image }
            decodedSizes.remove(entry, for: base)
        }
        return nil
    }

    /// The largest complete picture that was decoded from `base` and is still there: to be shown until a better comes.
    public func largestImage(forBase: CacheKey) -> Image? {
        for entry in decodedSizes.entries(for: forBase).reversed() {
            if let image = images.value(for: entry.key) { return image }
            decodedSizes.remove(entry, for: forBase)
        }
        return nil
    }

    /// Forgets every picture that was decoded from `base`, as when its bytes have changed.
    public func removeAll(forBase: CacheKey) { removeAll(forBase: forBase) { _ in true } }

    /// Forgets of the pictures that were decoded from `base` those that `isUnwanted` names; it is given `nil` where a picture
    /// is in use alone, or gone.
    package func removeAll(forBase: CacheKey, where shouldRemove: (Image?) -> Bool) {
        for entry in decodedSizes.entries(for: forBase) where shouldRemove(images.peek(entry.key)) {
            images.remove(entry.key)
            decodedSizes.remove(entry, for: forBase)
        }
    }

    /// Keeps a picture under the key of its decode, and so that smaller decodes of `base` find it.
    ///
    /// A partial picture is found by its own key alone.
    public func insert(_ image: Image, for key: CacheKey, base: CacheKey? = nil, timeToLive: Duration? = nil) {
        images.insert(image, for: key, cost: image.cost, timeToLive: timeToLive)
        guard let base, !image.isPartial else { return }
        let entry = DecodedSizeIndex.Entry(
            key: key,
            size: image.size,
            sourceSize: image.sourceSize,
            isDrawing: image.format == .svg
        )
        decodedSizes.insert(entry, for: base) { [images] in images.contains($0) }
    }

    /// Keeps a picture that was read from disk; makes room first where less memory than the watermark is available.
    ///
    /// What goes for it is as large as what comes and what is lacking, so that the process does not grow.
    public func insertFromDisk(_ image: Image, for key: CacheKey, base: CacheKey? = nil, timeToLive: Duration? = nil) {
        let shortfall = watermark.bytes + image.cost.bytes - availableMemory.bytes
        if shortfall > 0 {
            let bytesToFree = max(shortfall, image.cost.bytes)
            images.trim(toCost: ByteCount(max(0, images.totalCost.bytes - bytesToFree)))
        }
        insert(image, for: key, base: base, timeToLive: timeToLive)
    }

    /// Does what the application's life asks for, from now on: shrinks under memory pressure and in the background.
    ///
    /// Ends when the environment's streams end, or with the first event after the cache is gone.
    public func observe(
        _ environment: any ApplicationEnvironment,
        backgroundBehavior behavior: BackgroundBehavior = .removeAll
    ) {
        let (phases, pressures) = (environment.phases, environment.memoryPressure)
        Task { [weak self] in
            for await phase in phases {
                guard let self else { return }
                if phase == .background { self.enterBackground(behavior: behavior) }
            }
        }
        Task { [weak self] in
            for await pressure in pressures {
                guard let self else { return }
                self.images.respond(to: pressure)
            }
        }
    }

    /// Does what was chosen for the time in the background.
    public func enterBackground(behavior: BackgroundBehavior = .removeAll) {
        switch behavior {
        case .keepAll: break
        case .shrink(let fraction): images.shrink(toFraction: fraction)
        case .removeAll: images.shrink(toFraction: 0)
        }
    }
}
