public import EideticCodecs
public import EideticCore

/// A picture that was loaded.
public struct ImageResponse: Sendable {
    /// The picture, decoded; drawing it needs no further work.
    ///
    /// With `avoidDecode` a picture that is not in memory is decoded when it is first used; see `Image.decoded()`.
    public internal(set) var image: Image

    /// What the head of a picture says that was not decoded (`avoidDecode`), `nil` for all others.
    public internal(set) var header: ImageHeader?

    /// Where it came from.
    public let source: ImageSource

    /// The bytes of the encoded original.
    public let byteCount: ByteCount

    /// The encoded original; `nil` for a picture from memory, unless `queryMemoryData` asked for it and a cache has it.
    public internal(set) var encodedBytes: [UInt8]?

    /// Why the original could not be stored on disk; known with `waitStoreCache` only.
    public internal(set) var storeError: EideticError?

    /// What the server said of the cached picture; `nil` without `refreshCached`, or where no cache had it.
    public internal(set) var revalidation: Revalidation?

    /// How the load went, step by step.
    public internal(set) var trace: LoadTrace

    /// Whether a server sent the bytes although they were those of the cached picture.
    var isTransferred = false
}

extension ImageResponse {
    /// Creates an answer, for an ``ImageInterceptor`` that answers itself.
    ///
    /// `byteCount` is the number of `originalBytes`, else what the picture knows of its own.
    public init(_ image: Image, source: ImageSource, encodedBytes: [UInt8]? = nil) {
        self.init(
            image: image,
            source: source,
            byteCount: encodedBytes.map { ByteCount($0.count) } ?? image.encodedSize,
            originalBytes: encodedBytes,
            record: LoadTrace(steps: [])
        )
    }
}

/// What a server said when it was asked whether a cached picture has changed.
public enum Revalidation: Sendable {
    /// The cached picture is still right.
    case unchanged
    /// There is another picture: the one of this answer.
    case changed
    /// The server could not be asked; the answer is the cached picture.
    case failed(EideticError)
}
