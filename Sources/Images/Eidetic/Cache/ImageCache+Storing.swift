import EideticCodecs
public import EideticCore
public import EideticStore

extension ImageCache {
    /// Inserts an image; it is in memory before the first suspension, and on disk when this function returns.
    ///
    /// An image without its bytes is encoded: in its own format if that can hold it; otherwise, an animation as GIF, an
    /// image with alpha as PNG, and any other as JPEG of the best quality.
    ///
    /// An image that is smaller than its resource never takes the resource's place: it is stored with its own size.
    ///
    /// - Parameters:
    ///   - image: The image; a partial one is refused.
    ///   - bytes: The encoded bytes of the resource, if the caller has them.
    ///   - key: The image's key.
    ///   - tiers: The tiers to fill; both by default.
    ///   - metadata: The metadata of the disk entry.
    /// - Throws: `encodingFailed`, `invalidArgument` for a partial image, an impossible key, or a cropped image under a
    ///   key without a size, the errors of writing, and those of decoding if the image is not decoded yet.
    nonisolated(nonsending) public func insert(
        _ image: Image,
        bytes: [UInt8]? = nil,
        for key: Key,
        in tiers: Tiers = .all,
        metadata: DiskCache.Metadata = .init()
    ) async throws(EideticError) {
        let work = tiers.contains(.disk) ? beginDiskWork() : nil
        defer { _ = try? work?.get().end() }
        let image = try await image.decoded()
        let destination = try insertIntoMemory(image, for: key, bytes: bytes, tiers: tiers, metadata: metadata)
        guard let disk, let work = try work?.get() else { return }
        let (encoded, described) = try await stage.run { _ throws(EideticError) in
            (try self.serialize(image, bytes: bytes, for: destination), destination.metadata(describing: image))
        }
        let known = try? await disk.original(for: destination.key)
        let metadata = described.replacing(known, by: encoded, in: disk)
        try await disk.insert(encoded, for: destination.key, metadata: metadata, within: work)
    }

    /// Inserts the encoded bytes of an image into the disk cache.
    ///
    /// - Parameters:
    ///   - bytes: The encoded bytes.
    ///   - key: The image's key.
    ///   - metadata: The metadata of the disk entry.
    /// - Throws: `notAnImage` and the other errors of a header that cannot be read, and the errors of writing.
    nonisolated(nonsending) public func insert(
        bytes: [UInt8],
        for key: Key,
        metadata: DiskCache.Metadata = .init()
    ) async throws(EideticError) {
        let work = beginDiskWork()
        defer { _ = try? work?.get().end() }
        let destination = Destination(key: resolved(key).text, metadata: metadata)
        let encoded = try await stage.run { _ throws(EideticError) in
            try self.serialize(nil, bytes: bytes, for: destination)
        }
        replaceContent(of: resolved(key), by: bytes)
        guard let disk, let work = try work?.get() else { return }
        let known = try? await disk.original(for: destination.key)
        let metadata = metadata.replacing(known, by: encoded, in: disk)
        try await disk.insert(encoded, for: destination.key, metadata: metadata, within: work)
        // Until now the disk had the previous bytes, and a look-up may have decoded those.
        replaceContent(of: resolved(key), by: bytes, isRepeated: true)
    }

    /// Removes sizes and transforms of other bytes from memory.
    func replaceContent(of key: Key, by bytes: [UInt8], isRepeated: Bool = false) {
        renditions.replaceContent(
            of: key.text,
            base: key.with(rendering: .init()).baseKey,
            checksum: Image.Provenance(of: bytes).checksum,
            isRepeated: isRepeated
        )
    }

    /// Covers a write to disk from the call that decides it; `nil` if there is no disk cache.
    func beginDiskWork() -> Result<BackgroundWork, EideticError>? {
        guard let disk else { return nil }
        return Result { () throws(EideticError) in try disk.beginWork() }
    }

    /// The disk entry that an image is written to.
    struct Destination: Sendable {
        let key: String
        let metadata: DiskCache.Metadata

        /// Returns the metadata with the placeholder of an image that is whole.
        ///
        /// - Complexity: O(*n*) in the pixels of the image.
        func metadata(describing image: Image) -> DiskCache.Metadata {
            guard metadata.kind != .derived, image.hasSourceProportions else { return metadata }
            var metadata = metadata
            metadata.response.imagePlaceholder = try? ImagePlaceholder(of: image.pixels)
            return metadata
        }
    }

    /// Inserts an image into memory.
    ///
    /// - Returns: The disk entry that it belongs to.
    func insertIntoMemory(
        _ image: Image,
        for key: Key,
        bytes: [UInt8]?,
        tiers: Tiers,
        metadata: DiskCache.Metadata
    ) throws(EideticError) -> Destination {
        guard !image.isPartial else {
            throw EideticError(.invalidArgument, message: "\(key.text): a partial image cannot be stored")
        }
        var key = resolved(key)
        if key.rendering.size == nil, key.rendering.transform == nil, image.isDownscaled {
            guard image.hasSourceProportions else {
                let reason = "a cropped or transformed image needs a key with its rendering"
                throw EideticError(.invalidArgument, message: "\(key.text): \(reason)")
            }
            var rendering = key.rendering
            rendering.size = image.size
            key = key.with(rendering: rendering)
        }
        if let bytes { replaceContent(of: key, by: bytes) }
        if tiers.contains(.memory), configuration.keepsInMemory {
            let timeToLive =
                disk?.timeToLive(of: metadata) ?? metadata.expirationTime.map { max(.zero, $0 - SystemTime().now) }
            let recorded = bytes.map { image.recording(Image.Provenance(of: $0)) } ?? image
            let hasSourceSize = bytes != nil || image.isDownscaled || key.rendering.size == nil
            insertIntoMemory(recorded, for: key, timeToLive: timeToLive, hasSourceSize: hasSourceSize)
        }
        guard bytes == nil else { return Destination(key: key.text, metadata: metadata) }
        var metadata = metadata
        if !key.isFullImage { metadata.kind = .derived }
        return Destination(key: key.renditionText, metadata: metadata)
    }

    /// Inserts an image into memory; an animation with all its frames also as one that is decoded while it plays, and
    /// its first frame alone.
    ///
    /// Other sizes are made from it only if it records the size of its resource.
    private func insertIntoMemory(_ image: Image, for key: Key, timeToLive: Duration?, hasSourceSize: Bool) {
        func insert(_ image: Image, for key: Key) {
            let (base, isCropped) = (hasSourceSize ? key.baseKey : nil, key.rendering.isCropped)
            memory.insert(image, for: key.imageKey, base: base, isCropped: isCropped, timeToLive: timeToLive)
            renditions.add(key.imageKey, to: key.text)
        }
        guard image.frames.count > 1 else { return insert(image, for: key) }
        let first = image.replacingFrames([Image.Frame(pixels: image.pixels, duration: image.frames[0].duration)])
        insert(first.playing(image.animation), for: key.ofAnimation)
        insert(first, for: key.ofFirstFrame)
        insert(image, for: key.ofAllFrames)
    }

    /// Returns the bytes to be written to disk; only those that begin with the header of an image are accepted.
    func serialize(_ image: Image?, bytes: [UInt8]?, for destination: Destination) throws(EideticError) -> [UInt8] {
        if let bytes { _ = try stage.header(of: bytes) }
        if let encode = configuration.serializer.encode { return try encode(image, bytes, destination.key) }
        if let bytes { return bytes }
        guard let image else { return [] }
        return try ImageEncoder.encode(image, as: image.storageFormat, quality: 1)
    }
}

extension DiskCache.Metadata {
    /// Returns the metadata of bytes that take the place of others, which images of own sizes do not outlive.
    func replacing(_ known: DiskCache.Original?, by bytes: [UInt8], in disk: DiskCache) -> DiskCache.Metadata {
        guard let known, kind == .original else { return self }
        var metadata = self
        let isEqual = known.checksum == Image.Provenance(of: bytes).checksum
        metadata.response.replacementTime = isEqual ? known.metadata.response.replacementTime : disk.time.now
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

    private var hasAlpha: Bool { frames.contains { $0.pixels.alpha != .opaque } }

    /// The format in which the image is stored if its bytes are not at hand.
    var storageFormat: ImageFormat {
        if isAnimated { return .gif }
        // The encoders of HEIF take seconds for a photograph without loss.
        guard [.jpeg, .png, .webp, .gif].contains(format) else { return hasAlpha ? .png : .jpeg }
        // A transform may have made a JPEG image transparent.
        return format == .jpeg && hasAlpha ? .png : format
    }
}
