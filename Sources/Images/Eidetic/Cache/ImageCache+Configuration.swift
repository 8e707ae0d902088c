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
        /// Without it a hit on disk has encoded bytes only, and memory is not filled.
        public var decodesOnRead = true

        /// A function that changes the text of each key before it is used; `nil` by default.
        ///
        /// It can remove parts that do not identify the image. Keys made from requests are not changed.
        public var keyHook: (@Sendable (String) -> String)?

        /// The conversion between images and the bytes on disk; by default they are files of the images' formats.
        ///
        /// The cache of a pipeline has that of the pipeline unless it is given one, which loads do not know.
        public var serializer = Serializer()

        /// The limits of memory, pixels and time for decoding an image; larger images are refused.
        public var decodeLimits: DecodeLimits = .standard

        /// The largest number of decoded bytes of an image with `scaleDownLargeImages`; 60 MB by default.
        public var scaleDownLimit: ByteCount = 60_000_000

        /// The process in which images are decoded; by default those on disk are decoded in the sandbox.
        ///
        /// The cache of a pipeline has that of the pipeline.
        public var decodePolicy = DecodePolicy.automatic

        /// The largest number of images that are decoded or encoded at once; the number of processors by default, at
        /// least 1.
        public var maximumConcurrentDecodes: Int = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

        /// Creates a configuration with the defaults.
        public init() {}
    }

    /// A pair of functions between images and the bytes on disk, as for encryption.
    ///
    /// Their errors reach the caller of a cache. A load (``ImagePipeline/Configuration/serializer``) treats an entry
    /// that cannot be read as a miss, and an image that cannot be stored as not stored. They are called on threads for
    /// blocking work, several at once, and with `blocking` or synchronous forms on the thread of the caller. Files of
    /// bundles are read through them as well.
    public struct Serializer: Sendable {
        typealias Encode =
            @Sendable (_ image: Image?, _ bytes: [UInt8]?, _ key: String) throws(EideticError) -> [UInt8]
        typealias Decode = @Sendable (_ bytes: [UInt8], _ key: String) throws(EideticError) -> [UInt8]

        let encode: Encode?
        let decode: Decode?

        /// Creates a serializer that stores encoded images unchanged.
        public init() { (encode, decode) = (nil, nil) }

        /// Creates a serializer from two functions, each of which reverses the other.
        ///
        /// - Parameters:
        ///   - encode: Returns the bytes to be stored for a key, from the image if the caller has it, and from the
        ///     encoded bytes if the caller has those.
        ///   - decode: Returns the encoded image of the bytes that were stored for a key.
        public init(
            encode:
                @escaping @Sendable (_ image: Image?, _ bytes: [UInt8]?, _ key: String) throws(EideticError) -> [UInt8],
            decode: @escaping @Sendable (_ bytes: [UInt8], _ key: String) throws(EideticError) -> [UInt8]
        ) {
            self.encode = encode
            self.decode = decode
        }

        /// A Boolean value indicating whether encoded images are stored unchanged.
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
        /// The empty set.
        package static let none: Tiers = []
    }
}
