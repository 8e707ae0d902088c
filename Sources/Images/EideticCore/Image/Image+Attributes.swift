extension Image {
    /// The encoded image that an image was decoded from.
    package struct Provenance: Sendable, Hashable {
        private enum Source {
            case known(UInt64)
            case bytes(LazyChecksum)
        }

        /// The number of encoded bytes.
        package let byteCount: ByteCount
        private let source: Source

        package init(byteCount: ByteCount, checksum: UInt64) {
            self.byteCount = byteCount
            source = .known(checksum)
        }

        /// Records bytes, which are held until the checksum is first needed.
        package init(of bytes: [UInt8]) {
            byteCount = ByteCount(bytes.count)
            source = .bytes(LazyChecksum(of: bytes))
        }

        /// The checksum of the encoded bytes.
        package var checksum: UInt64 {
            switch source {
            case .known(let checksum): checksum
            case .bytes(let bytes): bytes.value
            }
        }

        package static func == (left: Provenance, right: Provenance) -> Bool {
            left.byteCount == right.byteCount && left.checksum == right.checksum
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(checksum) }
    }

    /// The checksum of bytes, which are held until it is first needed: a program that only moves files never needs it.
    private final class LazyChecksum: Sendable {
        private let state: Guarded<(bytes: [UInt8], value: UInt64?)>

        init(of bytes: [UInt8]) { state = Guarded((bytes, nil)) }

        var value: UInt64 {
            let (bytes, known) = state.withLock { $0 }
            if let known { return known }
            let value = bytes.withUnsafeBytes { Checksum.value(of: $0) }
            state.withLock { $0 = ([], value) }
            return value
        }
    }

    /// Everything that belongs to an image apart from its frames.
    package struct Attributes: Sendable {
        package let loopCount: Int?
        package let format: ImageFormat
        package let sourceSize: PixelSize
        package var scale: Double
        package var isPartial = false
        /// `nil` if the image was not decoded.
        package var provenance: Provenance?
    }

    /// The number of times that an animation plays: `nil` for ever, 1 for a still image.
    public var loopCount: Int? { attributes.loopCount }

    /// The format that the image was decoded from.
    public var format: ImageFormat { attributes.format }

    /// The upright size of the encoded image; larger than ``size`` if the image was decoded to a smaller size.
    public var sourceSize: PixelSize { attributes.sourceSize }

    /// The number of pixels per point, as in "@2x"; 1 by default.
    public var scale: Double { attributes.scale }

    /// A Boolean value indicating whether the image was decoded from a part of its bytes.
    public var isPartial: Bool { attributes.isPartial }

    /// The size of the encoded image; zero if the image was not decoded.
    package var encodedSize: ByteCount { attributes.provenance?.byteCount ?? .zero }

    /// The encoded image that this one was decoded from; `nil` if it was not decoded.
    package var provenance: Provenance? { attributes.provenance }

    /// A checksum of the encoded image; `nil` if the image was not decoded.
    package var encodedChecksum: UInt64? { attributes.provenance?.checksum }

    /// Creates an image with the attributes of another one.
    ///
    /// - Precondition: There is at least one frame.
    package init(frames: [Frame], attributes: Attributes) {
        self.init(frames: frames, format: attributes.format, sourceSize: attributes.sourceSize)
        self.attributes = attributes
    }

    /// Returns the image with other frames, for example after a transform.
    ///
    /// - Precondition: There is at least one frame.
    package func replacingFrames(_ frames: [Frame]) -> Image { Image(frames: frames, attributes: attributes) }

    /// Returns the image with another scale.
    package func replacingScale(_ scale: Double) -> Image {
        var image = self
        image.attributes.scale = scale
        return image
    }

    /// The image without the mark that a part of its bytes is missing.
    package var complete: Image {
        var image = self
        image.attributes.isPartial = false
        return image
    }

    /// Returns the image with the record of the encoded image that it was decoded from.
    ///
    /// Only a deferred image, which holds the encoded bytes itself, may hold them by that record.
    package func recording(_ provenance: Provenance) -> Image {
        var image = self
        image.attributes.provenance =
            isDecoded ? Provenance(byteCount: provenance.byteCount, checksum: provenance.checksum) : provenance
        return image
    }
}

/// The origin of a loaded image.
public enum ImageSource: Sendable, Hashable {
    /// The memory cache.
    case memory
    /// The disk cache, a file, or given bytes.
    case disk
    /// A function of the program: the provider of a request, or the source of an own URL scheme.
    case provider
    /// A cache that several machines share, also one that an `ImageInterceptor` uses.
    case shared
    /// The network.
    case network
}
