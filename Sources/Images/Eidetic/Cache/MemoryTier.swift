import EideticCore
import EideticStore

/// The images of a cache that are in memory.
struct MemoryTier: Sendable {
    let memory: ImageMemoryCache
    /// The images in memory of each resource; those of the pipeline, if the cache belongs to one.
    let renditions: RenditionIndex
    /// A Boolean value indicating whether the cache inserts images.
    let isFilled: Bool

    /// Returns the image, or a larger one of the same bytes.
    func image(for key: ImageCache.Key) -> Image? {
        guard let base = key.baseKey, !key.rendering.isCropped else { return memory.image(for: key.imageKey) }
        return memory.image(for: key.imageKey, base: base, size: key.rendering.size, mode: key.rendering.contentMode)
    }

    /// Inserts an image; an animation with all its frames also as one that is decoded while it plays, and its first
    /// frame alone.
    ///
    /// Other sizes are made from it only if it records the size of its resource.
    func insert(_ image: Image, for key: ImageCache.Key, timeToLive: Duration?, hasSourceSize: Bool) {
        guard isFilled else { return }
        func insert(_ image: Image, for key: ImageCache.Key) {
            let (base, isCropped) = (hasSourceSize ? key.baseKey : nil, key.rendering.isCropped)
            memory.insert(image, for: key.imageKey, base: base, isCropped: isCropped, timeToLive: timeToLive)
            renditions.add(key.imageKey, to: key.text)
        }
        guard image.frames.count > 1 else { return insert(image, for: key) }
        let first = image.replacingFrames([Image.Frame(pixels: image.pixels, duration: image.frames[0].duration)])
        insert(first.playing(image.animation), for: key.with(frames: []))
        insert(first, for: key.with(frames: .firstFrameOnly))
        insert(image, for: key.with(frames: .preloadAllFrames))
    }

    /// Inserts an image that was decoded from disk; with `false` its bytes are not those of its resource.
    func insertFromDisk(_ image: Image, for key: ImageCache.Key, hasSourceSize: Bool, timeToLive: Duration?) {
        guard isFilled else { return }
        let base = hasSourceSize ? key.baseKey : nil
        let isCropped = key.rendering.isCropped
        memory.insertFromDisk(image, for: key.imageKey, base: base, isCropped: isCropped, timeToLive: timeToLive)
    }

    /// Removes sizes and transforms of other bytes.
    func replaceContent(of key: ImageCache.Key, by bytes: [UInt8], isRepeated: Bool = false) {
        renditions.replaceContent(
            of: key.text,
            base: key.with(rendering: .init()).baseKey,
            checksum: Image.Provenance(of: bytes).checksum,
            isRepeated: isRepeated
        )
    }

    /// Removes an image in all its sizes.
    func remove(_ key: ImageCache.Key) {
        memory.remove(key.imageKey)
        if let base = key.baseKey { memory.removeAll(forBase: base) }
    }
}
