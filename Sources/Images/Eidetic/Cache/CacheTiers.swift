import EideticCodecs
import EideticStore

/// The images of a cache that are on disk: how they are found, decoded and encoded; all functions block.
struct StoredImages: Sendable {
    let serializer: ImageCache.Serializer
    /// The stage that decodes; that of the pipeline, if the cache belongs to one.
    let stage: DecodeStage
    /// A Boolean value indicating whether entries that are read are decoded.
    let isDecoded: Bool
    /// The rules for how long the image of an entry is fresh in memory.
    let rules: FreshnessRules

    /// A disk entry that has an image, and the metadata of its resource, which decide about its freshness.
    struct Found: Sendable {
        let entry: DiskCache.Entry
        let resource: DiskCache.Metadata
    }

    /// Returns the disk entry of the image itself, else that of its resource.
    func find(_ key: ImageCache.Key, in disk: EntryLookup) throws(EideticError) -> Found? {
        for name in key.diskKeys {
            guard let entry = try disk.read(name),
                let resource = try resource(of: entry.metadata, for: key, in: disk)
            else { continue }
            let isDerived = DerivedImageRecord(entry.metadata) != nil
            return Found(entry: isDerived ? entry : try serializer.decoded(entry), resource: resource)
        }
        return nil
    }

    /// Returns whether the disk has an image, or its resource.
    func contain(_ key: ImageCache.Key, in disk: EntryLookup) throws(EideticError) -> Bool {
        if try disk.contains(key.text) { return true }
        guard !key.isFullImage, let info = try disk.info(for: key.renditionText), !info.isExpired else { return false }
        return try resource(of: info.metadata, for: key, in: disk) != nil
    }

    /// Returns the metadata that decide about the freshness of an entry; `nil` if it does not have the image of a key.
    ///
    /// A derived entry has the first frame, and depends on the resource that it was made from.
    private func resource(
        of metadata: DiskCache.Metadata,
        for key: ImageCache.Key,
        in disk: EntryLookup
    ) throws(EideticError) -> DiskCache.Metadata? {
        guard let record = DerivedImageRecord(metadata) else { return metadata }
        guard record.fits(key.options, by: rules), let original = try disk.original(for: key.text),
            record.describes(original)
        else { return nil }
        return original.metadata
    }

    /// Decodes an entry, and inserts the image into memory.
    func hit(
        from found: Found,
        for key: ImageCache.Key,
        filling tier: MemoryTier?,
        context: JobContext
    ) throws(EideticError) -> ImageCache.Hit {
        let entry = found.entry
        func hit(_ image: Image?, source: ImageSource) -> ImageCache.Hit {
            ImageCache.Hit(image: image, source: source, bytes: entry.bytes, metadata: entry.metadata)
        }
        guard isDecoded else { return hit(nil, source: .disk) }
        // A concurrent look-up may have decoded it since memory was searched.
        if let image = tier?.memory.image(for: key.imageKey) { return hit(image, source: .memory) }
        let image = try decode(entry, for: key, context: context)
        // A smaller image that was stored by itself does not record the size of its resource.
        let isResource = entry.key == key.text
        let timeToLive = rules.timeToLive(of: found.resource)
        tier?.insertFromDisk(image, for: key, hasSourceSize: isResource, timeToLive: timeToLive)
        return hit(image, source: .disk)
    }

    func policy(for key: ImageCache.Key) -> RenditionPolicy {
        stage.policy(for: key.rendering, options: key.options, name: key.text)
    }

    private func decode(
        _ entry: DiskCache.Entry,
        for key: ImageCache.Key,
        context: JobContext
    ) throws(EideticError) -> Image {
        if let record = DerivedImageRecord(entry.metadata) {
            let image = try stage.decodeDerived(entry.bytes, by: policy(for: key), context: context)
            let scale = key.rendering.scale ?? ImageScale.scale(fromName: key.text)
            return record.restored(image, scale: scale).compacted()
        }
        // An image that was stored by itself is transformed already.
        let isRendered = entry.key != key.text
        let plain = ImageRequest.Rendering(convertsToSRGB: key.rendering.convertsToSRGB, scale: key.rendering.scale)
        let policy = policy(for: isRendered ? key.with(rendering: plain) : key)
        let data = EncodedImage(entry.bytes, from: .disk)
        return try stage.makeRendition(of: data, by: policy, note: "of a cache", context: context).image
    }

    /// Returns the bytes to be written to disk; only those that begin with the header of an image are accepted.
    func serialize(_ image: Image?, bytes: [UInt8]?, for key: String) throws(EideticError) -> [UInt8] {
        if let bytes { _ = try stage.header(of: bytes) }
        if let encode = serializer.encode { return try encode(image, bytes, key) }
        if let bytes { return bytes }
        guard let image else { return [] }
        return try ImageEncoder.encode(image, as: ImageEncoder.storageFormat(of: image), quality: 1)
    }
}

extension DiskCache.Metadata {
    /// Returns the metadata with the placeholder of an image that is whole.
    ///
    /// - Complexity: O(*n*) in the pixels of the image.
    func describing(_ image: Image) -> DiskCache.Metadata {
        guard kind != .derived, image.hasSourceProportions else { return self }
        var metadata = self
        metadata.response.imagePlaceholder = try? ImagePlaceholder(of: image.pixels)
        return metadata
    }

    /// Returns the metadata of bytes that take the place of others, which images of own sizes do not outlive.
    func replacing(_ known: EntryLookup.Original?, by bytes: [UInt8], in disk: DiskCache) -> DiskCache.Metadata {
        guard let known, kind == .original else { return self }
        var metadata = self
        let checksum = Image.Provenance(of: bytes).checksum
        metadata.response.replacementTime = known.replacementTime(by: checksum, at: disk.time.now)
        return metadata
    }
}

extension Image {
    /// A Boolean value indicating whether the image has fewer pixels than its resource.
    var isDownscaled: Bool { size.pixelCount < sourceSize.pixelCount }

    /// A Boolean value indicating whether one scale of both sides, which are rounded, leads from the resource to the
    /// image.
    var hasSourceProportions: Bool {
        func scales(_ side: Int, of source: Int) -> ClosedRange<Double> {
            // A side is never rounded down to zero.
            (side == 1 ? 0 : Double(side) - 0.5) / Double(source)...(Double(side) + 0.5) / Double(source)
        }
        return scales(size.width, of: sourceSize.width).overlaps(scales(size.height, of: sourceSize.height))
    }
}

struct MemoryTier: Sendable {
    let memory: ImageMemoryCache
    /// The images in memory of each resource; those of the pipeline, if the cache belongs to one.
    let renditions: RenditionIndex
    let isFilled: Bool

    /// Returns the image, or a larger one of the same bytes.
    func image(for key: ImageCache.Key) -> Image? {
        guard let base = key.baseKey, !key.rendering.isCropped else { return memory.image(for: key.imageKey) }
        return memory.image(for: key.imageKey, base: base, size: key.rendering.size, mode: key.rendering.contentMode)
    }

    /// Inserts an image if `tiers` contains memory; returns the key and the metadata of its entry on `disk`.
    ///
    /// An image that is smaller than its resource never takes the resource's place: it has a key with its own size.
    ///
    /// - Throws: `invalidArgument` for a partial image, and for one whose size alone does not tell what it is.
    func insert(
        _ image: Image,
        bytes: [UInt8]?,
        for key: ImageCache.Key,
        in tiers: ImageCache.Tiers,
        metadata: DiskCache.Metadata,
        on disk: DiskCache?
    ) throws(EideticError) -> (diskKey: String, metadata: DiskCache.Metadata) {
        var (key, entryMetadata) = (key, metadata)
        guard !image.isPartial else {
            throw EideticError(.invalidArgument, message: "\(key.text): a partial image cannot be stored")
        }
        if key.rendering.size == nil, key.rendering.transform == nil, image.isDownscaled {
            guard image.hasSourceProportions else {
                let reason = "a cropped or transformed image needs a key with its rendering"
                throw EideticError(.invalidArgument, message: "\(key.text): \(reason)")
            }
            var rendering = key.rendering
            rendering.size = image.size
            key = key.with(rendering: rendering)
        }
        if bytes == nil, !key.isFullImage { entryMetadata.kind = .derived }
        if let bytes { replaceContent(of: key, by: bytes) }
        if tiers.contains(.memory) {
            let timeToLive =
                disk?.timeToLive(of: metadata) ?? metadata.expirationTime.map { max(.zero, $0 - SystemTime().now) }
            let recorded = bytes.map { image.recording(Image.Provenance(of: $0)) } ?? image
            let hasSourceSize = bytes != nil || image.isDownscaled || key.rendering.size == nil
            insert(recorded, for: key, timeToLive: timeToLive, hasSourceSize: hasSourceSize)
        }
        return (bytes == nil ? key.renditionText : key.text, entryMetadata)
    }

    /// Inserts an image; an animation with all its frames also as one that is decoded while it plays, and its first
    /// frame alone.
    ///
    /// Other sizes are made from it only if it records the size of its resource.
    private func insert(_ image: Image, for key: ImageCache.Key, timeToLive: Duration?, hasSourceSize: Bool) {
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
        RenditionIndex.Replacement(
            index: renditions,
            resourceKey: key.text,
            baseKey: key.with(rendering: .init()).baseKey,
            provenance: Image.Provenance(of: bytes)
        )
        .record(isRepeated: isRepeated)
    }

    func remove(_ key: ImageCache.Key) {
        memory.images.remove(key.imageKey)
        if let base = key.baseKey { memory.removeAll(forBase: base) }
    }
}
