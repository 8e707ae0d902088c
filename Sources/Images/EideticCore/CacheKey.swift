import CXXHash

/// The key of a cached value: a 128-bit hash of a text, computed once and compared in two instructions.
///
/// XXH3 is not a cryptographic hash: texts with equal hashes can be constructed. A store that identifies entries by
/// this hash must compare the text as well, as the disk cache does. The keys of requests and of `ImageCache` depend on
/// a random secret of the process, so that collisions cannot be constructed for them.
///
/// - SeeAlso: XXH3, https://github.com/Cyan4973/xxHash
public struct CacheKey: Hashable, Sendable {
    /// The upper 64 bits of the hash.
    @usableFromInline package let high: UInt64
    /// The lower 64 bits of the hash.
    @usableFromInline package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates the key of a text.
    ///
    /// - Complexity: O(*n*) in the number of UTF-8 bytes; about 20 ns for a URL.
    public init(_ text: String) {
        var text = text
        self = text.withUTF8 { Self(hashing: UnsafeRawBufferPointer($0)) }
    }

    /// Creates the key of a text for this process only: nobody can predict it, or find another text with the same key.
    package init(forProcess text: String) {
        var text = text
        self = text.withUTF8 { text in
            let hash = Self.processSecret.withUnsafeBufferPointer { secret in
                XXH3_128bits_withSecret(text.baseAddress, text.count, secret.baseAddress, secret.count)
            }
            return Self(high: hash.high64, low: hash.low64)
        }
    }

    /// Random bytes of the kernel's generator, as many as XXH3's own secret has.
    private static let processSecret: [UInt8] = {
        var generator = SystemRandomNumberGenerator()
        return (0..<192).map { _ in generator.next() }
    }()

    package init(hashing bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) {
        let hash = XXH3_128bits_withSeed(bytes.baseAddress, bytes.count, seed)
        self.init(high: hash.high64, low: hash.low64)
    }

    /// Feeds the lower half of the hash into `hasher`; XXH3 distributes each half evenly.
    public func hash(into hasher: inout Hasher) { hasher.combine(low) }

    /// The hash as 32 hexadecimal digits, the upper half first.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: 32) { buffer in
            for index in 0..<16 {
                let byte = Int(truncatingIfNeeded: (index < 8 ? high : low) >> UInt64(56 - 8 * (index % 8))) & 0xff
                buffer[2 * index] = digits[byte >> 4]
                buffer[2 * index + 1] = digits[byte & 15]
            }
            return 32
        }
    }
}
