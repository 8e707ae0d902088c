import EideticCodecs
public import EideticCore
public import EideticStore

extension ImageCache {
    /// Keeps a picture; blocks on encoding and file work.
    ///
    /// In memory it is found when this returns or throws, on disk when this returns. Without its bytes a picture is
    /// encoded: in its own format where that can hold it, an animation else as GIF, what has alpha else as PNG, all else
    /// as JPEG of the best quality.
    ///
    /// A picture that is smaller than its original never takes the original's place: it is kept under its own size.
    ///
    /// - Parameters:
    ///   - image: The picture; a partial one is not kept.
    ///   - bytes: The encoded original, where it is at hand.
    ///   - key: What it is kept under.
    ///   - tiers: Where it is kept; both by default.
    ///   - metadata: Stored beside it on disk.
    /// - Throws: `encodingFailed`, `invalidArgument` for a partial picture or an impossible key, and what writing throws;
    ///   what decoding throws for a picture that was not decoded yet.
    public func store(
        _ image: Image,
        bytes: [UInt8]? = nil,
        for key: Key,
        in tiers: Tiers = .all,
        metadata: DiskCache.Metadata = .init()
    ) throws(EideticError) {
        // Memory holds what is decoded.
        let image = try image.decodedSynchronously()
        let place = try insertIntoMemory(image, for: key, bytes: bytes, tiers: tiers, metadata: metadata)
        guard tiers.contains(.disk), let disk else { return }
        try disk.write(
            try serialize(image, bytes: bytes, destination: place),
            for: place.name,
            metadata: place.metadata
        )
    }

    /// Keeps the encoded bytes of a picture on disk; blocks on file work.
    ///
    /// Throws `notAPicture` and its like for bytes that begin no picture, and what writing throws.
    public func store(
        bytes: [UInt8],
        for key: Key,
        metadata: DiskCache.Metadata = .init()
    ) throws(EideticError) {
        let place = Destination(name: resolved(key).text, metadata: metadata)
        try disk?.write(try serialize(nil, bytes: bytes, destination: place), for: place.name, metadata: metadata)
    }

    /// Keeps a picture, encoding and writing on threads of the caches; see `store`.
    ///
    /// In memory it is found at once; returns when it is on disk.
    public func insert(
        _ image: Image,
        bytes: [UInt8]? = nil,
        for key: Key,
        in tiers: Tiers = .all,
        metadata: DiskCache.Metadata = .init()
    ) async throws(EideticError) {
        let image = try await image.decoded()
        let place = try insertIntoMemory(image, for: key, bytes: bytes, tiers: tiers, metadata: metadata)
        guard tiers.contains(.disk), let disk else { return }
        let encoded = try await pool.run { _ throws(EideticError) in
            try self.serialize(image, bytes: bytes, destination: place)
        }
        try await disk.insert(encoded, for: place.name, metadata: place.metadata)
    }

    /// Keeps the encoded bytes of a picture on disk, writing on a thread of the disk cache; see `store`.
    public func insert(
        bytes: [UInt8],
        for key: Key,
        metadata: DiskCache.Metadata = .init()
    ) async throws(EideticError) {
        let place = Destination(name: resolved(key).text, metadata: metadata)
        let encoded = try await pool.run { _ throws(EideticError) in
            try self.serialize(nil, bytes: bytes, destination: place)
        }
        try await disk?.insert(encoded, for: place.name, metadata: metadata)
    }

    /// Where something goes on disk.
    private struct Destination: Sendable {
        let name: String
        let metadata: DiskCache.Metadata
    }

    /// Puts a picture into memory, and says where it goes on disk.
    private func insertIntoMemory(
        _ image: Image,
        for key: Key,
        bytes: [UInt8]?,
        tiers: Tiers,
        metadata: DiskCache.Metadata
    ) throws(EideticError) -> Destination {
        guard !image.isPartial else {
            throw EideticError(.invalidArgument, message: "\(key.text): a partial picture is not stored")
        }
        var key = resolved(key)
        if key.rendering.size == nil, image.isDownscaled {
            var rendering = key.rendering
            rendering.size = image.size
            key = key.with(rendering: rendering)
        }
        if tiers.contains(.memory), configuration.keepsInMemory {
            let life = metadata.expirationTime.map { max(.zero, $0 - SystemTime().now) }
            memory.insert(image.recordingChecksum(of: bytes), for: key.imageKey, base: key.baseKey, timeToLive: life)
        }
        guard bytes == nil else { return Destination(name: key.text, metadata: metadata) }
        var metadata = metadata
        if !key.isFullImage { metadata.kind = .derived }
        return Destination(name: key.renditionText, metadata: metadata)
    }

    /// The bytes that go to disk.
    private func serialize(_ image: Image?, bytes: [UInt8]?, destination place: Destination) throws(EideticError)
        -> [UInt8]
    {
        // Only what proved to be a picture is stored.
        if let bytes { _ = try ImageDecoder.header(of: bytes) }
        if let encode = configuration.serializer.encode { return try encode(image, bytes, place.name) }
        if let bytes { return bytes }
        guard let image else { return [] }
        return try ImageEncoder.encode(image, as: image.storedFormat, quality: 1)
    }
}

extension Image {
    /// Whether it has fewer pixels than its original.
    var isDownscaled: Bool { size.pixelCount < sourceSize.pixelCount }

    /// Whether a pixel may be transparent.
    private var hasAlpha: Bool { frames.contains { $0.pixels.alpha != .opaque } }

    /// The format in which it is stored when its bytes are not at hand.
    var storageFormat: ImageFormat {
        if isAnimated { return .gif }
        guard ImageEncoder.supportedFormats.contains(format) else { return hasAlpha ? .png : .jpeg }
        // What a transform made transparent is not a JPEG any more.
        return format == .jpeg && hasAlpha ? .png : format
    }

    /// The picture with what is known of its bytes.
    func recordingChecksum(of bytes: [UInt8]?) -> Image {
        guard let bytes else { return self }
        var image = self
        image.encodedSize = ByteCount(bytes.count)
        image.encodedChecksum = bytes.withUnsafeBytes { Checksum.value(of: $0) }
        return image
    }
}
