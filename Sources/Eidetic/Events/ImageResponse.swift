public import EideticCore

/// A picture that was loaded.
public struct ImageResponse: Sendable {
    /// The picture, decoded; drawing it needs no further work.
    public let image: Image

    /// Where it came from.
    public let source: ImageSource

    /// The bytes of the encoded original.
    public let byteCount: ByteCount

    /// The encoded original; `nil` for a picture from memory, unless `queryMemoryData` asked for it and a cache has it.
    public let originalBytes: [UInt8]?

    /// Why the original could not be stored on disk; known with `waitStoreCache` only.
    public let storeError: EideticError?

    /// How the load went, step by step.
    public let record: LoadRecord
}
