public import EideticCodecs
public import EideticCore
import Glibc

extension ImageCache {
    /// How a cache of pictures works.
    public struct Configuration: Sendable {
        /// Whether pictures are kept in memory at all; true by default.
        public var keepsInMemory = true

        /// Whether what is read from disk is decoded; true by default.
        ///
        /// Without it a hit on disk brings the encoded bytes alone, and memory is not filled.
        public var decodesOnRead = true

        /// Changes each key that was made of a text, before it is used: to leave out what does not matter.
        ///
        /// Keys of requests stay as they are. `nil` by default.
        public var keyHook: (@Sendable (String) -> String)?

        /// How pictures become the bytes on disk and come back; as files of their formats by default.
        public var serializer = Serializer()

        /// What a picture may cost before it is refused.
        public var decodeLimits: DecodeLimits = .standard

        /// The most decoded bytes of a picture with `scaleDownLargeImages`; 60 MB by default.
        public var scaleDownLimit: ByteCount = 60_000_000

        /// How many pictures are decoded or encoded at once; the number of processors by default, at least 1.
        public var maximumConcurrentDecodes: Int = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

        /// Creates a configuration with the defaults.
        public init() {}
    }

    /// Functions between pictures and the bytes on disk, as for encryption; what they throw reaches the caller.
    ///
    /// A pipeline that uses the same disk cache does not call them.
    public struct Serializer: Sendable {
        /// Makes the bytes of a picture that are stored for a key; `bytes` are the encoded ones, where the caller has them.
        public typealias Encode =
            @Sendable (_ image: Image?, _ bytes: [UInt8]?, _ key: String) throws(EideticError) -> [UInt8]
        /// Makes the encoded picture of the bytes that were stored for a key.
        public typealias Decode = @Sendable (_ bytes: [UInt8], _ key: String) throws(EideticError) -> [UInt8]

        let encode: Encode?
        let decode: Decode?

        /// Creates a serializer; without functions it stores encoded pictures as they are.
        public init() { (encode, decode) = (nil, nil) }

        /// Creates a serializer of two functions, of which one undoes the other.
        public init(encode: @escaping Encode, decode: @escaping Decode) {
            (self.encode, self.decode) = (encode, decode)
        }
    }

    /// The tiers that something concerns.
    public struct Tiers: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt8

        /// Creates a set from bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Decoded pictures in memory.
        public static let memory = Tiers(rawValue: 1)
        /// Encoded pictures on disk.
        public static let disk = Tiers(rawValue: 2)
        /// Both.
        public static let all: Tiers = [.memory, .disk]
        /// None.
        public static let none: Tiers = []
    }
}
