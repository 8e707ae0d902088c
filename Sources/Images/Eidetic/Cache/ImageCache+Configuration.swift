public import EideticCodecs
public import EideticCore
import EideticStore
import Glibc

extension ImageCache {
    /// The options and limits of an image cache.
    public struct Configuration: Sendable {
        /// A Boolean value indicating whether images are kept in memory; true by default.
        public var keepsInMemory = true

        /// A Boolean value indicating whether bytes read from disk are decoded; true by default.
        ///
        /// If it is false, a hit on disk has only encoded bytes, and the image is not inserted into memory.
        public var decodesOnRead = true

        /// A function that changes the text of each key before it is used; `nil` by default.
        ///
        /// It can remove parts that do not identify the image. Keys made from requests are not changed.
        public var keyHook: (@Sendable (String) -> String)?

        /// The conversion between images and the bytes on disk; by default the bytes are files in the images' formats.
        ///
        /// The cache of a pipeline uses the pipeline's serializer. Loads ignore a serializer that is set here.
        public var serializer = Serializer()

        /// The limits of memory, pixels and time for decoding an image; larger images are refused.
        public var decodeLimits: DecodeLimits = .standard

        /// The largest decoded size of an image with `scaleDownLargeImages`; 60 MB by default.
        package var scaleDownLimit: ByteCount = 60_000_000

        /// The process in which images are decoded; the sandbox by default.
        ///
        /// The cache of a pipeline uses the pipeline's policy.
        public var decodePolicy = DecodePolicy.automatic

        /// The largest number of images that are decoded or encoded at once; the number of processors by default, at
        /// least 1.
        package var maximumConcurrentDecodes: Int = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

        /// Creates a configuration with the defaults.
        public init() {}
    }

    /// A pair of functions between images and the bytes on disk, as for encryption.
    ///
    /// A function of a cache throws their errors. A load (``ImagePipeline/Configuration/serializer``) instead treats an
    /// entry that cannot be decoded as a miss, and does not store an image that cannot be encoded.
    ///
    /// The functions are called on threads for blocking work, several at once. The blocking and synchronous forms call
    /// them on the caller's thread. Files of bundles are decoded by them, too.
    public struct Serializer: Sendable {
        typealias Encode =
            @Sendable (_ image: Image?, _ bytes: [UInt8]?, _ key: String) throws(EideticError) -> [UInt8]
        typealias Decode = @Sendable (_ bytes: [UInt8], _ key: String) throws(EideticError) -> [UInt8]

        let encode: Encode?
        let decode: Decode?

        /// Creates a serializer that stores encoded images unchanged.
        package init() { (encode, decode) = (nil, nil) }

        /// Creates a serializer from two functions, each of which reverses the other.
        ///
        /// - Parameters:
        ///   - encode: Returns the bytes to store for a key. It receives the image and the encoded bytes, as far as the
        ///     caller has them.
        ///   - decode: Returns the encoded image from the bytes stored for a key.
        public init(
            encode:
                @escaping @Sendable (_ image: Image?, _ bytes: [UInt8]?, _ key: String) throws(EideticError) -> [UInt8],
            decode: @escaping @Sendable (_ bytes: [UInt8], _ key: String) throws(EideticError) -> [UInt8]
        ) {
            self.encode = encode
            self.decode = decode
        }

        var isIdentity: Bool { encode == nil && decode == nil }

        /// Returns an entry with the encoded image of the bytes that were stored for its key.
        func decoded(_ entry: DiskCache.Entry) throws(EideticError) -> DiskCache.Entry {
            guard let decode else { return entry }
            return DiskCache.Entry(key: entry.key, bytes: try decode(entry.bytes, entry.key), metadata: entry.metadata)
        }
    }

    /// A set of tiers of the cache.
    public struct Tiers: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Decoded images in memory.
        public static let memory = Tiers(rawValue: 1)
        /// Encoded images on disk.
        public static let disk = Tiers(rawValue: 2)
        /// Memory and disk.
        public static let all: Tiers = [.memory, .disk]
        package static let none: Tiers = []
    }
}
